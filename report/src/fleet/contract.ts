// What the document of a fleet's page holds: docs/fleet.md. Tables come column by column.

type Texts = readonly (string | null)[];
type Numbers = readonly (number | null)[];

export interface FleetDocument {
    schema: string;
    tool: string;
    /** Of the file. */
    name: string;
    /** From the folder of this page to that of the fleet: "" or "../a/". */
    way: string;
    topics: Readonly<Record<string, { title: string; means: string }>>;
    jobs: {
        id: Numbers;
        path: Texts;
        name: Texts;
        state: Texts;
        code: Texts;
        cause: Texts;
        confidence: Texts;
        action: Texts;
        summary: Texts;
        operation: Texts;
        group_kind: Texts;
        fingerprint: Texts;
        happened_ms: Numbers;
        happened_from: Texts;
        world_size: Numbers;
        gpus: Numbers;
        idle_ms: Numbers;
        exit: Numbers;
        signal: Numbers;
        limit: Texts;
        tries: Numbers;
        trouble: Texts;
        kept_db: Texts;
        kept_report: Texts;
        ranks: Texts;
        rank_count: Numbers;
    };
    /** What verdicts name: `job` is an id of jobs, `kind` host, gpu or place. */
    named: { job: Numbers; kind: Texts; what: Texts };
    faults: { fingerprint: Texts; sketch: Texts; place: Texts; waiting_place: Texts };
    fleet: { jobs: Numbers };
}
