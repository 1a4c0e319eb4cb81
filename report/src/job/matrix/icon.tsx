// A state as a small picture, the same shape that the canvas draws.
import { useEffect, useRef } from "preact/hooks";
import { theme } from "../../shared/theme.js";
import { severityOfCell } from "./cell.js";
import { drawCell, makePaint } from "./draw.js";

const SIZE_PX = 16;

export function StateIcon({ state, step = 0 }: { state: number; step?: number }) {
    const canvas = useRef<HTMLCanvasElement>(null);
    const { value: shownTheme } = theme;
    useEffect(() => {
        const context = canvas.current!.getContext("2d")!;
        const ratio = canvas.current!.width / SIZE_PX;
        context.setTransform(ratio, 0, 0, ratio, 0, 0);
        context.clearRect(0, 0, SIZE_PX, SIZE_PX);
        drawCell(context, makePaint(context), severityOfCell[state | (step << 4)]!, 0, 0, SIZE_PX, SIZE_PX);
    }, [state, step, shownTheme]);
    return <canvas class="state-icon" ref={canvas} width={SIZE_PX * 2} height={SIZE_PX * 2} aria-hidden="true" />;
}
