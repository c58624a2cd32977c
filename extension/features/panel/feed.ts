/**
 * What one panel receives: everything once it is ready, then what changes, at most ten times a second, and nothing while
 * it is hidden. Pure but for the questions it asks.
 */
import type { Asker } from "../connection/asker.ts";
import {
  curriculumQuery,
  metricsNames,
  metricsSeries,
  groupsQuery,
  rolloutsQuery,
  rolloutsWhy,
  runsShow,
  type Change,
  runsVerdict,
  type ResultOf,
  type RunDetail,
  type RunSummary,
} from "../../../shared/protocol/protocol.ts";
import {
  mostBuckets,
  panelVersion,
  wantedMetric,
  type Brush,
  type CurriculumView,
  type RolloutPlace,
  type LinkState,
  type LiveStep,
  type PanelBefore,
  type PanelFacts,
  type ToPanel,
} from "../../../shared/editor/runPanel.ts";
import type { PanelForgotten } from "../../../shared/editor/panelTurnover.ts";
import { messageOf } from "../../../shared/lib/errors.ts";
import type { Verdict } from "../../../shared/run/verdict.ts";
import { panelGroups, panelTexts } from "./groups.ts";
import { panelRun } from "./panelRun.ts";
import { runBefore } from "./runBefore.ts";
import { readEvaluations, type RunEvaluations } from "./readEvaluations.ts";
import { evaluationUnderWay, noFailures, readEvents, type RunEvents } from "./readEvents.ts";
import { seriesParts } from "./seriesParts.ts";

interface PanelFeedOptions {
  readonly run: string;
  readonly source: () => Promise<Asker>;
  readonly send: (message: ToPanel) => void;
  readonly failed: (error: unknown) => void;
  /** The run as every other view of the window shows it at the moment. */
  readonly shown?: () => RunSummary | undefined;
  /** Milliseconds between two updates. */
  readonly pace?: number;
  readonly after?: (milliseconds: number, act: () => void) => void;
}

const defaultPace = 100;
const mostRollouts = 512;

/** What is asked for again. `summary`: nothing, what is known has changed. */
type Stale = "summary" | "detail" | "evaluations" | "errors";

/** What was asked for in one refresh; a part that was not asked for is absent. */
interface Refreshed {
  readonly detail?: RunDetail;
  readonly evaluated?: RunEvaluations;
  readonly events?: RunEvents;
}

export class PanelFeed {
  #ready = false;
  #detail: RunDetail | undefined;
  #summary: RunSummary | undefined;
  #evaluated: RunEvaluations = { evaluations: [] };
  #verdict: Verdict | null | undefined;
  #before: PanelBefore | undefined;
  #compared = false;
  /** Of which step it was asked for last, and whether the run was live then. */
  #judged = "";
  #events: RunEvents = { errors: 0, failures: noFailures, told: [], evaluating: undefined };
  #steps: LiveStep[] = [];
  /** What has changed since it was last asked for: taken before the questions, so that what changes meanwhile stays. */
  #stale: ReadonlySet<Stale> = new Set();
  #timer = false;
  #busy = false;
  #loading = 0;
  /** Each `ready` or gap begins a new round; an answer to an older one is dropped. */
  #round = 0;

  constructor(private readonly options: PanelFeedOptions) {}

  /** The webview can hear: it gets everything. */
  async ready(): Promise<void> {
    this.#ready = true;
    await this.#loadAll();
  }
  /** Hidden or closed: what it shows is asked for again when it comes back. */
  hidden(): void {
    this.#ready = false;
    this.#round++;
    this.#steps = [];
  }
  /** The feed has a gap: begin again. */
  async restart(): Promise<void> {
    if (this.#ready) await this.#loadAll();
  }
  /** The run's progress has changed for every view. */
  moved(): void {
    if (!this.#ready || this.#detail === undefined) return;
    this.#mark("summary");
    this.#schedule();
  }
  /** Whether the panel was sent this place: a webview must not choose files. */
  names(file: string): boolean {
    return this.#events.failures.failures.some((failure) => failure.file === file);
  }
  /** What it was sent last. */
  get verdict(): Verdict | null {
    return this.#verdict ?? null;
  }
  /** A forgotten task that it was sent: a webview must not choose what is read. */
  forgotten(task: string): PanelForgotten | undefined {
    return this.#evaluated.turnover?.listed.find((one) => one.task === task);
  }
  get before(): string | undefined {
    return this.#before?.run;
  }
  /** The verdict was dismissed, or is wanted again. */
  judgeAgain(): void {
    this.#judged = "asked again";
    this.moved();
  }
  link(link: LinkState): void {
    if (this.#ready) this.options.send({ version: panelVersion, type: "link", link });
  }

  take(changes: readonly Change[]): void {
    if (!this.#ready) return;
    for (const change of changes) {
      if (change.run !== this.options.run) continue;
      if (change.kind === "deleted") {
        this.options.send({ version: panelVersion, type: "gone", message: "This run was deleted." });
        return this.hidden();
      }
      const before = this.#summary?.attempt;
      this.#note(change);
      // What a later attempt trains again lies inside buckets: they are asked for again.
      if (before !== undefined && (this.#summary?.attempt ?? 0) > before) void this.#loadAll();
    }
    if (this.#stale.size > 0) this.#schedule();
  }

  async range(
    id: number,
    metrics: readonly string[],
    { from, to, smooth = 0 }: { readonly from: number; readonly to: number; readonly smooth?: number },
  ): Promise<void> {
    const source = await this.options.source();
    const series = await this.#series(source, metrics, { from: from - 1, to, ...(smooth > 0 && { smooth }) });
    this.options.send({ version: panelVersion, type: "range", id, series });
  }
  async metricNames(): Promise<void> {
    const source = await this.options.source();
    const { names } = await source.ask(metricsNames, { run: this.options.run });
    this.options.send({ version: panelVersion, type: "names", names });
  }
  async metrics(metrics: readonly string[]): Promise<void> {
    const series = await this.#series(await this.options.source(), metrics, {});
    this.options.send({ version: panelVersion, type: "metrics", series });
  }

  /** What the curriculum drew in a part of the run. */
  async curriculum(id: number, { by, arm, family, from, to }: CurriculumView): Promise<void> {
    const { run, send } = this.options;
    await this.#answered("curriculum", async (source) => {
      const opened = { ...(arm === null ? {} : { arm }), ...(family === null ? {} : { family }) };
      const part = { run, by, from, to, ...opened };
      const overview = await source.ask(curriculumQuery, part);
      send({ version: panelVersion, type: "curriculum", id, overview });
    });
  }

  /** The rollouts of a step that trained or might have. */
  async rollouts(step: number): Promise<void> {
    const { run, send } = this.options;
    await this.#answered("rollouts", async (source) => {
      const [{ groups }, { rollouts, total }] = await Promise.all([
        source.ask(groupsQuery, { run, step }),
        source.ask(rolloutsQuery, { run, step, where: 'use == "train"', limit: mostRollouts }),
      ]);
      const listed = panelGroups(groups, rollouts);
      send({ version: panelVersion, type: "rollouts", step, groups: listed, more: total - rollouts.length });
    });
  }

  /** The rollouts of what was marked on the curriculum's lanes. */
  async brush(id: number, brush: Brush): Promise<void> {
    const { run, send } = this.options;
    await this.#answered("rollouts", async (source) => {
      const { from, to, by } = brush;
      const [{ groups }, { rollouts, total }] = await Promise.all([
        source.ask(groupsQuery, { run, from, to, by, names: [...brush.names] }),
        source.ask(rolloutsQuery, { run, from, to, where: whereOf(brush), limit: mostRollouts }),
      ]);
      const known = byStep(groups);
      const listed = [...byStep(rollouts)].flatMap(([step, rows]) =>
        panelGroups(known.get(step) ?? [], rows).map((group) => ({ ...group, step })),
      );
      send({ version: panelVersion, type: "brushed", id, groups: listed, more: total - rollouts.length });
    });
  }

  async why({ step, group, index }: RolloutPlace): Promise<void> {
    const { run, send } = this.options;
    await this.#answered("why", async (source) => {
      const where = `use == "train" && group == ${JSON.stringify(group)} && index == ${index}`;
      const [why, { rollouts }] = await Promise.all([
        source.ask(rolloutsWhy, { run, step, group, index }),
        source.ask(rolloutsQuery, { run, step, where, limit: 1 }),
      ]);
      send({ version: panelVersion, type: "why", why, ...panelTexts(rollouts[0]) });
    });
  }

  /** A failure is shown in place of the answer: the rest of the panel keeps working. */
  async #answered(
    to: "curriculum" | "rollouts" | "why",
    answer: (source: Asker) => Promise<void>,
  ): Promise<void> {
    try {
      await answer(await this.options.source());
    } catch (error) {
      this.options.send({ version: panelVersion, type: "unanswered", to, message: messageOf(error) });
    }
  }

  #mark(...stale: readonly Stale[]): void {
    this.#stale = new Set([...this.#stale, ...stale]);
  }

  #note(change: Change): void {
    this.#mark("summary");
    const before = this.#summary;
    if (change.summary !== null) this.#summary = change.summary;
    const attempt = change.summary?.attempt ?? this.#summary?.attempt ?? 0;
    if (change.kind === "step" && change.metrics !== undefined)
      this.#steps.push({ step: change.step, attempt, metrics: change.metrics });
    if (change.kind === "evaluation") this.#mark("evaluations");
    if (change.kind === "event") this.#mark("errors");
    const moved = before?.stage !== this.#summary?.stage || before?.attempt !== this.#summary?.attempt;
    if (change.kind === "checkpoint" || change.kind === "status" || moved) this.#mark("detail");
  }

  #schedule(): void {
    if (this.#timer || this.#busy) return;
    this.#timer = true;
    const after = this.options.after ?? ((milliseconds, act) => void setTimeout(act, milliseconds));
    after(this.options.pace ?? defaultPace, () => {
      this.#timer = false;
      void this.#flush();
    });
  }

  async #flush(): Promise<void> {
    if (!this.#ready || this.#stale.size === 0 || this.#busy || this.#loading > 0) return;
    this.#busy = true;
    const round = this.#round;
    const stale = this.#stale;
    this.#stale = new Set();
    try {
      const { detail, evaluated, events } = await this.#refreshed(stale);
      // What began meanwhile asks for everything, and later than this did.
      if (round !== this.#round) return;
      if (detail !== undefined) this.#detail = detail;
      if (evaluated !== undefined) this.#evaluated = evaluated;
      if (events !== undefined) this.#events = events;
      if (this.#detail === undefined) return;
      const steps = this.#steps;
      this.#steps = [];
      this.options.send({ version: panelVersion, type: "live", steps, ...this.#shown(this.#detail) });
    } catch (error) {
      this.#mark(...stale);
      this.options.failed(error);
    } finally {
      this.#busy = false;
      if (this.#stale.size > 0 && this.#ready) this.#schedule();
    }
  }

  async #refreshed(stale: ReadonlySet<Stale>): Promise<Refreshed> {
    const judged = this.#summary?.verdict === undefined ? "" : JSON.stringify(this.#summary.verdict);
    const isJudged = judged === this.#judged && !stale.has("evaluations");
    if (isJudged && stale.size === 1 && stale.has("summary")) return {};
    const source = await this.options.source();
    const { run } = this.options;
    // What every other view says of the run has changed: so have the sentences about it.
    if (!isJudged) await this.#judge(source);
    const detail = stale.has("detail") ? await source.ask(runsShow, { run }) : undefined;
    if (detail !== undefined) void this.#compareBefore(source, detail);
    return {
      ...(detail === undefined ? {} : { detail }),
      ...(stale.has("evaluations") ? { evaluated: await readEvaluations(source, run) } : {}),
      ...(stale.has("errors") ? { events: await readEvents(source, run) } : {}),
    };
  }

  /** A daemon of an earlier version gives none. */
  async #judge(source: Asker): Promise<void> {
    this.#judged = this.#summary?.verdict === undefined ? "" : JSON.stringify(this.#summary.verdict);
    this.#verdict = await askVerdict(source, this.options.run).catch(() => undefined);
  }

  async #loadAll(): Promise<void> {
    const round = ++this.#round;
    this.#steps = [];
    this.#stale = new Set();
    // What comes from here on is newer than what is asked for.
    this.#summary = undefined;
    this.#loading++;
    const { run } = this.options;
    try {
      const source = await this.options.source();
      const [detail, { names }, evaluated, events] = await Promise.all([
        source.ask(runsShow, { run }),
        source.ask(metricsNames, { run }),
        readEvaluations(source, run),
        readEvents(source, run),
        this.#judge(source),
      ]);
      const series = await this.#series(source, names.filter(wantedMetric), {});
      if (round !== this.#round || !this.#ready) return;
      this.#detail = detail;
      this.#evaluated = evaluated;
      this.#events = events;
      const begun: RunSummary = (this.#summary ??= detail);
      this.options.send({ version: panelVersion, type: "show", series, ...this.#shown(detail) });
      // An attempt that began meanwhile may not be in all of it.
      if (begun.attempt > detail.attempt) void this.#loadAll();
      void this.#compareBefore(source, detail);
    } catch (error) {
      if (round === this.#round) this.options.failed(error);
    } finally {
      this.#loading--;
      if (this.#stale.size > 0 && this.#ready) this.#schedule();
    }
  }

  /** After everything else: it reads two configs to name what differs. A run that has not begun has none yet. */
  async #compareBefore(source: Asker, detail: RunDetail): Promise<void> {
    if (this.#compared || Object.keys(detail.config).length === 0) return;
    this.#compared = true;
    this.#before = await runBefore(source, detail).catch(() => undefined);
    if (this.#before !== undefined) this.moved();
  }

  async #series(
    source: Asker,
    metrics: readonly string[],
    range: { from?: number; to?: number; smooth?: number },
  ): Promise<ResultOf<typeof metricsSeries>["series"]> {
    const { run } = this.options;
    const answers = await Promise.all(
      seriesParts(metrics).map((part) =>
        source.ask(metricsSeries, { run, buckets: mostBuckets, ...part, ...range }),
      ),
    );
    return answers.flatMap((answer) => answer.series);
  }

  #shown(detail: RunDetail): PanelFacts {
    const own = this.#summary ?? detail;
    const shared = this.options.shown?.();
    // The window's other views report a live run's progress once per beat: so does the head of the panel.
    const summary =
      shared?.status === own.status && shared.attempt === own.attempt ? { ...own, step: shared.step } : own;
    const evaluating = evaluationUnderWay(this.#events.evaluating, own, this.#evaluated.evaluations);
    return {
      run: { ...panelRun(detail, summary), ...(evaluating === undefined ? {} : { evaluating }) },
      ...this.#evaluated,
      errors: this.#events.errors,
      failures: this.#events.failures,
      events: this.#events.told,
      ...(this.#before === undefined ? {} : { before: this.#before }),
      ...(this.#verdict === undefined ? {} : { verdict: this.#verdict }),
    };
  }
}

const askVerdict = async (source: Asker, run: string): Promise<Verdict | null> =>
  (await source.ask(runsVerdict, { run })).verdict;

const whereOf = ({ by, names }: Brush): string => {
  const among = names.map((name) => `${by} == ${JSON.stringify(name)}`).join(" || ");
  return `use == "train"${among === "" ? "" : ` && (${among})`}`;
};
function byStep<Row extends { readonly step: number }>(
  rows: readonly Row[],
): ReadonlyMap<number, readonly Row[]> {
  const steps = new Map<number, Row[]>();
  for (const row of rows) {
    const own = steps.get(row.step) ?? [];
    own.push(row);
    steps.set(row.step, own);
  }
  return steps;
}
