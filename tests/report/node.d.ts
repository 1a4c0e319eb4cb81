// What modules.ts uses of Node; the page itself has nothing of it.
declare module "node:assert/strict" {
    const assert: {
        ok(value: unknown, message?: string): void;
        equal<T>(actual: T, expected: T, message?: string): void;
        deepEqual<T>(actual: T, expected: T, message?: string): void;
    };
    export default assert;
}

declare const process: { exit(code: number): never };
