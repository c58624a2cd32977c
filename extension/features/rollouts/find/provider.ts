/** Lists of rollouts over all steps of a run as documents: found by a condition, or of one task. */
import {
  CodeLens,
  EventEmitter,
  Range,
  commands as editor,
  window,
  type Disposable,
  type DocumentLink,
  type Hover,
  type Position,
  type TextDocument,
  type TextDocumentContentProvider,
  type Uri,
} from "vscode";
import { commands, schemes } from "../../../../shared/editor/contributions.ts";
import {
  evaluationsQuery,
  groupsQuery,
  rolloutsQuery,
  rolloutsSearch,
  type RolloutHit,
} from "../../../../shared/protocol/protocol.ts";
import type { RolloutRow } from "../../../../shared/rollouts/rollouts.ts";
import { taskHistory, type TaskStep } from "../../../../shared/rollouts/taskHistory.ts";
import { Nothing, register } from "../../../vscode/commands.ts";
import type { Asker } from "../../connection/asker.ts";
import type { Stores } from "../../connection/stores.ts";
import { pickRun } from "../../runs/pick.ts";
import { rolloutUri, type RolloutAddress } from "../address.ts";
import type { RolloutDocument, RolloutLines } from "../document.ts";
import type { RolloutDocuments } from "../one/provider.ts";
import { columnBesidePanel, commandLink } from "../provider.ts";
import { Surface } from "../surface.ts";
import type { WhyHovers } from "../whyHover.ts";
import { defaultSort, isSearch, listOf, listUri, type ListAddress } from "./address.ts";
import { askCondition, askSort } from "./ask.ts";
import { foundDocument, searchDocument } from "./document.ts";
import { taskDocument, type TaskDocument } from "./taskDocument.ts";

/** Rows of a list; a condition narrows it down. */
const mostRows = 1_000;
/** Of one task: hundreds of steps with all their rollouts. */
const mostOfTask = 10_000;

type Listed = RolloutDocument & Partial<Pick<TaskDocument, "steps">>;

export class RolloutLists implements TextDocumentContentProvider, Disposable {
  readonly #changed = new EventEmitter<Uri>();
  readonly onDidChange = this.#changed.event;
  readonly #surface: Surface<Listed>;
  readonly #disposables: Disposable[];

  constructor(
    private readonly stores: Stores,
    private readonly hovers: WhyHovers,
    private readonly documents: () => RolloutDocuments,
  ) {
    this.#surface = new Surface<Listed>(schemes.rolloutList, {
      content: this,
      lenses: (document) => this.#lenses(document),
      links: (document) => this.#links(document),
      hover: (document, position) => this.#hover(document, position),
    });
    this.#disposables = [
      this.#surface,
      register("rolloutsFind", (word, where, sort) => this.#find(word, where, sort)),
      register("rolloutsSort", () => this.#sort()),
      register("taskFollow", (word) => this.#follow(word)),
      register("taskDiff", (word) => this.#diffSteps(word)),
    ];
  }

  dispose(): void {
    for (const disposable of this.#disposables) disposable.dispose();
  }

  /** The rollout that the cursor is in. */
  get current(): RolloutAddress | undefined {
    const active = window.activeTextEditor;
    if (active?.document.uri.scheme !== schemes.rolloutList) return undefined;
    return this.#at(active.document, active.selection.active.line);
  }

  async provideTextDocumentContent(uri: Uri): Promise<string> {
    const address = listOf(uri);
    const session = await this.stores.connectedFor(address.run);
    const document = await this.#document(session, address);
    this.#surface.set(uri, document);
    return document.text;
  }

  #document(session: Asker, address: ListAddress): Promise<Listed> {
    if (address.kind === "task") return this.#task(session, address);
    return address.kind === "search" ? this.#searched(session, address) : this.#found(session, address);
  }

  #show(address: ListAddress): Thenable<unknown> {
    const uri = listUri(address, this.stores.nameOf(address.run));
    // A live run may have more by now.
    this.#changed.fire(uri);
    return window.showTextDocument(uri, {
      preview: true,
      viewColumn: columnBesidePanel(),
    });
  }

  async #found(
    session: Asker,
    { run, where, sort }: Extract<ListAddress, { kind: "found" }>,
  ): Promise<RolloutDocument> {
    const [{ rollouts, total }, { total: all }] = await Promise.all([
      session.ask(rolloutsQuery, { run, sort, limit: mostRows, ...(where !== "" && { where }) }),
      session.ask(rolloutsQuery, { run, limit: 1 }),
    ]);
    return foundDocument({ name: this.stores.nameOf(run), rollouts, total, all, where, sort });
  }

  /** Until the index is made each answer brings it further; of a scan a page may be empty and not the last. */
  async #searched(
    session: Asker,
    { run, text }: Extract<ListAddress, { kind: "search" }>,
  ): Promise<RolloutDocument> {
    const hits: RolloutHit[] = [];
    let after: string | null | undefined;
    let [total, atLeast] = [0, false];
    while (after !== null && hits.length < mostRows) {
      const answer = await session.ask(rolloutsSearch, {
        run,
        text,
        limit: mostRows - hits.length,
        ...(after !== undefined && { after }),
      });
      if (!answer.complete) continue;
      if (after === undefined || answer.how === "scan")
        total = Math.max(answer.total, hits.length + answer.hits.length);
      hits.push(...answer.hits);
      after = answer.next;
      atLeast = answer.atLeast && after !== null;
    }
    return searchDocument({ name: this.stores.nameOf(run), text, hits, total, atLeast });
  }

  async #task(session: Asker, { run, task }: Extract<ListAddress, { kind: "task" }>): Promise<TaskDocument> {
    const where = `task == ${JSON.stringify(task)}`;
    const [{ groups }, { rollouts }, { evaluations }] = await Promise.all([
      session.ask(groupsQuery, { run, by: "task", names: [task] }),
      session.ask(rolloutsQuery, { run, where, sort: "step", limit: mostOfTask }),
      session.ask(evaluationsQuery, { run, tasks: true }),
    ]);
    const [first] = rollouts;
    return taskDocument({
      name: this.stores.nameOf(run),
      task,
      arm: first?.task?.arm,
      prompt: first?.prompt,
      steps: taskHistory(groups, rollouts, { task, evaluations }),
    });
  }

  /** Without a condition one is asked for. */
  async #find(word: unknown, where: unknown, sort: unknown): Promise<void> {
    const active = window.activeTextEditor?.document.uri;
    const open = active?.scheme === schemes.rolloutList ? listOf(active) : undefined;
    const before =
      open?.kind === "found"
        ? open
        : {
            where: typeof where === "string" ? where : open?.kind === "search" ? open.text : "",
            sort: defaultSort,
          };
    const run = await pickRun(this.stores, word ?? open?.run, "Find Rollouts");
    if (run === undefined) return;
    const wanted =
      typeof where === "string" && typeof sort === "string"
        ? { where, sort: before.sort }
        : await askCondition(await this.stores.connectedFor(run.id), run, before);
    if (wanted === undefined) return;
    await this.#show(
      isSearch(wanted.where)
        ? { kind: "search", run: run.id, text: wanted.where.trim() }
        : { kind: "found", run: run.id, ...wanted },
    );
  }

  async #sort(): Promise<void> {
    const uri = window.activeTextEditor?.document.uri;
    const address = uri?.scheme === schemes.rolloutList ? listOf(uri) : undefined;
    if (address?.kind !== "found")
      throw new Nothing("No list of rollouts is open.", "Find some first: Gradus: Find Rollouts.");
    const sort = await askSort(address.sort);
    if (sort !== undefined) await this.#show({ ...address, sort });
  }

  /** The task that is named, or that of a rollout: the one that is named, the one that is open, or the one at the cursor. */
  async #follow(word: unknown): Promise<void> {
    const named = taskIn(word);
    if (named !== undefined) return void (await this.#show({ kind: "task", ...named }));
    const { run, rollout } = await this.documents().named(word);
    const task = rollout.task?.id;
    if (task === undefined)
      throw new Nothing(
        "This rollout's log does not say which task it is of.",
        'Find rollouts of one prompt instead: Gradus: Find Rollouts, prompt contains "…".',
      );
    await this.#show({ kind: "task", run, task });
  }

  /** The best responses of two steps side by side. */
  async #diffSteps(word: unknown): Promise<void> {
    const active = window.activeTextEditor?.document;
    const steps = (active && this.#surface.of(active)?.steps) ?? [];
    const address = active && active.uri.scheme === schemes.rolloutList ? listOf(active.uri) : undefined;
    if (address === undefined || steps.length < 2)
      throw new Nothing(
        "There are no two steps to compare.",
        "Follow a task that several steps have drawn: Gradus: Follow Task.",
      );
    const given = typeof word === "number" ? word : undefined;
    const second =
      given ??
      (await this.#pickStep(
        steps.map(({ step }) => step),
        "Later Step",
      ));
    if (second === undefined) return;
    const first =
      given === undefined
        ? await this.#pickStep(steps.map(({ step }) => step).slice(0, second), "Earlier Step")
        : given - 1;
    if (first === undefined) return;
    await this.#diff(address.run, steps[first]!.step, steps[second]!.step);
  }

  async #pickStep(steps: readonly TaskStep[], title: string): Promise<number | undefined> {
    const items = steps.map(({ step, best }, at) => ({
      label: `Step ${step}`,
      detail: best?.response ?? "",
      at,
    }));
    return (await window.showQuickPick(items.toReversed(), { title, matchOnDetail: true }))?.at;
  }

  async #diff(run: string, earlier: TaskStep, later: TaskStep): Promise<void> {
    const uri = ({ best }: TaskStep): Uri | undefined =>
      best === undefined ? undefined : rolloutUri({ run, ...placeOf(best) }, this.stores.nameOf(run));
    const [left, right] = [uri(earlier), uri(later)];
    if (left === undefined || right === undefined)
      throw new Nothing(
        "One of the two steps has no rollout with a reward.",
        "Choose other steps: Diff Two Steps….",
      );
    const title = `${this.stores.nameOf(run)} · best of steps ${earlier.step} ↔ ${later.step}`;
    await editor.executeCommand("vscode.diff", left, right, title, { preview: true });
  }

  #links(document: TextDocument): DocumentLink[] {
    const { run } = listOf(document.uri);
    return (this.#surface.of(document)?.rollouts ?? []).map((one) =>
      commandLink(
        new Range(one.from, one.at[0], one.from, one.at[1]),
        commands.rolloutOpen,
        { run, ...placeOf(one) },
        `Open rollout ${one.index} of step ${one.step}`,
      ),
    );
  }

  #at(document: TextDocument, line: number): RolloutAddress | undefined {
    const found = this.#linesAt(document, line);
    return found === undefined ? undefined : { run: listOf(document.uri).run, ...placeOf(found) };
  }
  #linesAt(document: TextDocument, line: number): RolloutLines | undefined {
    return this.#surface.of(document)?.rollouts.find(({ from, to }) => from <= line && line <= to);
  }

  #hover(document: TextDocument, { line }: Position): Promise<Hover> | undefined {
    const address = this.#at(document, line);
    return address === undefined ? undefined : this.hovers.hover(address, document.lineAt(line).range);
  }

  #lenses(document: TextDocument): CodeLens[] {
    const address = listOf(document.uri);
    const lens = (line: number, title: string, command: string, ...words: readonly unknown[]): CodeLens =>
      new CodeLens(new Range(line, 0, line, 0), { title, command, arguments: [...words] });
    const run = lens(0, "$(graph-line) Open Run", commands.runOpen, address.run);
    const change = lens(0, "$(filter) Change Condition…", commands.rolloutsFind, address.run);
    if (address.kind === "search") return [change, run];
    if (address.kind === "found")
      return [change, lens(0, "$(list-ordered) Sort…", commands.rolloutsSort), run];
    const steps = this.#surface.of(document)?.steps ?? [];
    return [
      ...(steps.length > 1 ? [lens(0, "$(diff) Diff Two Steps…", commands.taskDiff)] : []),
      run,
      ...steps.flatMap(({ line, step }, at) => [
        lens(line, "All of the Step", commands.rolloutsOpen, address.run, step.step, ""),
        ...(at === 0
          ? []
          : [lens(line, `$(diff) Best Against Step ${steps[at - 1]!.step.step}`, commands.taskDiff, at)]),
      ]),
    ];
  }
}

/** What a panel names: a task of which no answer may have been kept. */
function taskIn(word: unknown): { readonly run: string; readonly task: string } | undefined {
  if (typeof word !== "object" || word === null) return undefined;
  const { run, task } = word as { readonly run?: unknown; readonly task?: unknown };
  return typeof run === "string" && typeof task === "string" ? { run, task } : undefined;
}

const placeOf = ({ step, group, index }: Pick<RolloutRow, "step" | "group" | "index">) => ({
  step,
  group,
  index,
});
