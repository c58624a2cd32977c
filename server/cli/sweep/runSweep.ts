/** `gradus run FILE` of a config with `sweep`: its runs one after the other, those that are done left out. */
import { copiedWord } from "../../../shared/lib/copiedWord.ts";
import { DaemonClient } from "../../../shared/daemon/client.ts";
import type { Requester } from "../../../shared/daemon/request.ts";
import { ask } from "../../../shared/daemon/request.ts";
import { plural } from "../../../shared/lib/format.ts";
import { runsMark, runsResume, runsShow } from "../../../shared/protocol/protocol.ts";
import { isLive } from "../../../shared/protocol/runStatus.ts";
import { isTrial, type PlannedTrial, type SweepPlan } from "../../analysis/sweep/plan.ts";
import { complain, print, printJson } from "../command.ts";
import { followHere } from "../runs/followHere.ts";
import { startRun } from "../runs/startRun.ts";
import { openDaemon } from "../runs/store.ts";
import { colours } from "../text/colours.ts";
import { EarlyStop } from "./earlyStop.ts";
import { courseOf, recordedRuns, type RecordedRun } from "./recorded.ts";
import { sweepTable } from "./table.ts";
import { choiceText, headsOf, sweepTableLines } from "./tableText.ts";

interface SweepOptions {
  readonly set: readonly string[];
  readonly steps?: number;
  readonly json?: boolean;
}

type State = "started" | "resumed" | "followed" | "kept";

export async function runSweep(plan: SweepPlan, store: string, options: SweepOptions): Promise<void> {
  const client = new DaemonClient({ connect: () => openDaemon(store) });
  await client.start();
  try {
    await new SweepRunner(plan, store, options, client).run();
  } finally {
    client.dispose();
  }
}

class SweepRunner {
  private readonly connection: Requester;
  private readonly stop: EarlyStop;
  private readonly keys: readonly string[];

  constructor(
    private readonly plan: SweepPlan,
    private readonly store: string,
    private readonly options: SweepOptions,
    client: DaemonClient,
  ) {
    this.connection = { sendRequest: (method, parameters) => client.send(method, parameters) };
    this.keys = plan.sweep.parameters.map(({ key }) => key);
    this.stop = new EarlyStop(plan);
  }

  async run(): Promise<void> {
    const { trials } = this.plan;
    const known = await this.recorded();
    for (const run of known) if (!isLive(run.status)) this.stop.learn(run.course);
    this.announce(trials.filter((trial) => isDone(this.runOf(trial, known))).length);
    for (const [at, trial] of trials.entries()) {
      if (await this.trial(trial, this.runOf(trial, known))) continue;
      return this.left(trials.slice(at + 1).filter((other) => !isDone(this.runOf(other, known))).length);
    }
    const table = sweepTable(this.plan, await this.recorded());
    if (this.options.json === true) printJson({ type: "table", ...table });
    else print(`\n${sweepTableLines(table).join("\n")}`);
  }

  private recorded(): Promise<readonly RecordedRun[]> {
    const { tag, sweep } = this.plan;
    return recordedRuns(this.connection, tag, { keys: this.keys, metric: sweep.metric });
  }

  /** Of several, one that is done. */
  private runOf(trial: PlannedTrial, known: readonly RecordedRun[]): RecordedRun | undefined {
    const own = known.filter(({ seed, tree }) => isTrial(trial, { seed: seed ?? undefined, tree }));
    return own.find(isDone) ?? own.at(-1);
  }

  /** @returns whether the sweep goes on */
  private async trial(trial: PlannedTrial, known: RecordedRun | undefined): Promise<boolean> {
    if (known !== undefined && isDone(known)) {
      this.say(trial, known.run, "kept");
      return true;
    }
    const { run, state } = known === undefined ? await this.begin(trial) : await this.goOn(known.run);
    this.say(trial, run, state);
    const { json } = this.options;
    const judge = this.stop.ofRun(run);
    const { summary, interrupted } = await followHere(run, {
      store: this.store,
      history: true,
      hear: (line, client) => judge.hear(line, client),
      ...(json === undefined ? {} : { json }),
    });
    if (summary === null || interrupted) return false;
    const ended = await ask(this.connection, runsShow, { run });
    this.stop.learn(await courseOf(this.connection, ended, this.plan.sweep.metric));
    return true;
  }

  private async begin(trial: PlannedTrial): Promise<{ run: string; state: State }> {
    const { file, tag, id } = this.plan;
    const { steps, set } = this.options;
    // Whoever starts the sweep a second time, or is answered too late, gets the same run.
    const key = `${id}/${trial.set.join("&")}/${trial.seed}`;
    const asked = {
      set: [...set, ...trial.set],
      seed: trial.seed,
      ...(steps === undefined ? {} : { steps }),
    };
    const run = await startRun(file, this.store, asked, undefined, key);
    const { tags = [], status } = await ask(this.connection, runsShow, { run });
    await ask(this.connection, runsMark, { run, tags: [...tags, tag] });
    return isLive(status) || status === "finished" ? { run, state: "started" } : this.goOn(run);
  }

  private async goOn(run: string): Promise<{ run: string; state: State }> {
    const { status } = await ask(this.connection, runsShow, { run });
    if (isLive(status) || status === "reading") return { run, state: "followed" };
    await ask(this.connection, runsResume, { run });
    return { run, state: "resumed" };
  }

  private announce(done: number): void {
    const { id, trials, sweep, better } = this.plan;
    if (this.options.json === true)
      return printJson({
        type: "sweep",
        sweep: id,
        metric: sweep.metric,
        better,
        trials: trials.length,
        done,
      });
    const before = done === 0 ? "" : `, ${done} of them done before`;
    print(`${colours.bold(`sweep ${id}`)}  ${plural(trials.length, "run")}${before}`);
  }

  private say({ number, choice, seed }: PlannedTrial, run: string, state: State): void {
    const of = this.plan.trials.length;
    if (this.options.json === true)
      return printJson({ type: "trial", trial: number, of, seed, values: choice, run, state });
    const words = [choiceText(choice, headsOf(this.keys)), `seed ${seed}`].filter((part) => part !== "");
    const what = state === "kept" ? `done before as ${run}` : state === "started" ? "" : `${run} is ${state}`;
    print(
      `${state === "kept" ? "" : "\n"}${colours.blue(`run ${number} of ${of}`)}  ${words.join(" · ")}${what === "" ? "" : `  (${what})`}`,
    );
  }

  private left(rest: number): void {
    const again = `gradus run ${copiedWord(this.plan.file)}`;
    complain(
      rest === 0
        ? `Go on with the sweep: ${again}`
        : `${plural(rest, "run")} of the sweep ${rest === 1 ? "is" : "are"} not started. Go on with it: ${again}`,
    );
  }
}

/** Nothing is left to do for it. */
const isDone = (run: RecordedRun | undefined): boolean =>
  run !== undefined && (run.status === "finished" || run.stopped);
