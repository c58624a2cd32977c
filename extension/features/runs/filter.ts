/** Which runs the view shows, and in which order: expressions that the daemon answers, kept for the workspace. */
import { window, type Memento, type QuickPickItem } from "vscode";
import { messageOf } from "../../../shared/lib/errors.ts";
import { plural } from "../../../shared/lib/format.ts";
import { runsList } from "../../../shared/protocol/protocol.ts";
import { setContext } from "../../vscode/context.ts";
import { Emitter } from "../connection/emitter.ts";
import type { Store, Stores } from "../connection/stores.ts";
import type { Listing } from "./families.ts";

/** Values of a run's course in its row. */
const sparkWidth = 6;
const mostRuns = 5_000;
const keys = { where: "gradus.runs.where", sort: "gradus.runs.sort" } as const;

const sorts: readonly (QuickPickItem & { readonly sort: string })[] = [
  { label: "Newest First", sort: "" },
  { label: "Best Reward First", description: "-reward/mean@max", sort: "-reward/mean@max" },
  { label: "Best Held-Out pass@1 First", description: "-eval/pass@1@last", sort: "-eval/pass@1@last" },
  { label: "Longest First", description: "-duration", sort: "-duration" },
  { label: "By Verdict", description: "verdict", sort: "verdict" },
  { label: "By Name", description: "name", sort: "name" },
];

export class RunFilter {
  readonly changed = new Emitter<void>();
  #where: string;
  #sort: string;

  constructor(
    private readonly stores: Stores,
    private readonly memory: Memento,
  ) {
    this.#where = memory.get(keys.where, "");
    this.#sort = memory.get(keys.sort, "");
    void setContext("runsFiltered", this.#where !== "");
  }

  get where(): string {
    return this.#where;
  }

  /** Of one store, as it is now. What is on disk but cannot be asked for is shown without a filter. */
  async listing(store: Store): Promise<Listing> {
    const { session } = store.machine;
    const plain: Listing = { ids: undefined, sparks: new Map(), archived: false };
    if (session === undefined) return plain;
    const chosen = this.#where !== "" || this.#sort !== "";
    const { runs } = await session.ask(runsList, {
      limit: chosen ? mostRuns : store.feed.most,
      sparks: sparkWidth,
      ...(this.#where === "" ? {} : { where: this.#where }),
      ...(this.#sort === "" ? {} : { sort: this.#sort }),
    });
    // What is chosen may be older than the runs that are listed.
    if (chosen) store.runs.learn(runs);
    return {
      ids: chosen ? runs.map(({ id }) => id) : undefined,
      sparks: new Map(runs.map(({ id, spark = [] }) => [id, spark])),
      archived: /\barchived\b/.test(this.#where),
    };
  }

  /** Asks for an expression, and says at each key how many runs it holds for, or what is wrong with it. */
  async ask(): Promise<void> {
    const box = window.createInputBox();
    box.title = "Filter Runs";
    box.value = this.#where;
    box.placeholder = "reward/mean@last > 0.4 and config.rollout.group >= 8";
    box.prompt =
      "Names: status, name, tag, verdict, age, seed, config.KEY, and metrics with @first, @last, @max, @min, @mean.";
    let asked = 0;
    const check = async (): Promise<boolean> => {
      const turn = ++asked;
      const found = await this.#count(box.value.trim());
      if (turn !== asked) return false;
      box.validationMessage = typeof found === "string" ? found : undefined;
      if (typeof found === "number" && box.value.trim() !== "")
        box.title = `Filter Runs: ${plural(found, "run")}`;
      return typeof found === "number";
    };
    await new Promise<void>((done) => {
      box.onDidChangeValue(() => void check());
      box.onDidHide(() => done());
      box.onDidAccept(async () => {
        if (!(await check())) return;
        await this.#set(box.value.trim(), this.#sort);
        box.hide();
      });
      box.show();
      void check();
    });
    box.dispose();
  }

  clear(): Promise<void> {
    return this.#set("", this.#sort);
  }

  async pickSort(): Promise<void> {
    const items = sorts.map((item) => ({ ...item, picked: item.sort === this.#sort }));
    const chosen = await window.showQuickPick(items, { title: "Sort Runs", matchOnDescription: true });
    if (chosen !== undefined) await this.#set(this.#where, chosen.sort);
  }

  /** Above the tree: what is left out, and why. @param all undefined: not known */
  message(shown: number, all: number | undefined): string {
    if (this.#where === "") return "";
    const found = all === undefined ? plural(shown, "run") : `${shown} of ${plural(all, "run")}`;
    return `${found}: ${this.#where}`;
  }

  async #count(where: string): Promise<number | string> {
    const session = this.stores.all.find(({ machine }) => machine.session !== undefined)?.machine.session;
    if (where === "" || session === undefined) return 0;
    try {
      return (await session.ask(runsList, { limit: mostRuns, where })).runs.length;
    } catch (error) {
      return messageOf(error);
    }
  }

  async #set(where: string, sort: string): Promise<void> {
    [this.#where, this.#sort] = [where, sort];
    await this.memory.update(keys.where, where);
    await this.memory.update(keys.sort, sort);
    await setContext("runsFiltered", where !== "");
    this.changed.fire();
  }
}
