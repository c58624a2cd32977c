/** "Pin as Test": a recorded rollout and what a person expects of its reward become a test next to the reward. */
import { basename } from "node:path";
import { Range, Uri, window, workspace, type Disposable, type QuickPickItem } from "vscode";
import { UserError } from "../../../shared/lib/errors.ts";
import { formatNumber } from "../../../shared/lib/format.ts";
import { rewardPin } from "../../../shared/protocol/protocol.ts";
import type { Expectation } from "../../../shared/rollouts/expectation.ts";
import { fromWire, type RolloutRow } from "../../../shared/rollouts/rollouts.ts";
import { register } from "../../vscode/commands.ts";
import type { Stores } from "../connection/stores.ts";
import type { RolloutDocuments } from "../rollouts/one/provider.ts";
import { siblingItems } from "../rollouts/one/siblings.ts";
import type { RewardTests } from "./rewardTests.ts";

type Kind = "at_most" | "at_least" | "beats";

export class PinRollout implements Disposable {
  readonly #command: Disposable;

  constructor(
    private readonly stores: Stores,
    private readonly documents: RolloutDocuments,
    private readonly tests: RewardTests,
  ) {
    this.#command = register("rolloutPin", (word) => this.#pin(word));
  }

  dispose(): void {
    this.#command.dispose();
  }

  async #pin(word: unknown): Promise<void> {
    const { run, step, group, index, rollout, siblings } = await this.documents.named(word);
    const store = this.stores.ofRun(run);
    const config = store?.runs.find(run)?.file;
    if (config === undefined)
      throw new UserError(`Run ${run} is not in the store of this workspace.`, {
        action: "It may have been deleted: refresh the runs view.",
      });
    const expect = await askExpectation(rollout, siblings);
    if (expect === undefined) return;
    const session = await this.stores.session(store);
    const trusted = workspace.isTrusted;
    const pinned = await session.ask(rewardPin, { uri: config, trusted, run, step, group, index, expect });
    const name = basename(pinned.file);
    // Not awaited: a message stays until the person closes it.
    void window
      .showInformationMessage(
        pinned.added
          ? `Pinned as a test in ${name}. It runs on each save of the reward and before a launch.`
          : `${name} already has this test.`,
        "Open",
      )
      .then(async (answer) => {
        const selection = new Range(pinned.line, 0, pinned.line, 0);
        if (answer === "Open") await window.showTextDocument(Uri.file(pinned.file), { selection });
      });
    await this.tests.show(pinned.file);
  }
}

/** undefined: the person changed their mind. */
async function askExpectation(
  rollout: RolloutRow,
  siblings: readonly RolloutRow[],
): Promise<Expectation | undefined> {
  const kinds: (QuickPickItem & { readonly wish: Kind })[] = [
    { label: "Must score at most…", detail: "It earns what it should not.", wish: "at_most" },
    {
      label: "Must score at least…",
      detail: "It earns less than it should, or must go on earning it.",
      wish: "at_least",
    },
    {
      label: "Must beat a sibling…",
      detail: "It is better than another answer to the same task.",
      wish: "beats",
    },
  ];
  const title = `Pin Rollout ${rollout.index} as Test`;
  const usable = siblings.length > 1 ? kinds : kinds.slice(0, 2);
  const kind = (await window.showQuickPick(usable, { title }))?.wish;
  if (kind === undefined) return undefined;
  if (kind === "beats") {
    const items = siblingItems(siblings, rollout.index);
    const picked = await window.showQuickPick(items, { title, placeHolder: "Which sibling must earn less?" });
    const other = siblings.find(({ index }) => index === picked?.index);
    return other === undefined ? undefined : { beats: other.response ?? "" };
  }
  const what = await askWhat(rollout, title);
  if (what === undefined) return undefined;
  const limit = await askLimit(kind, what, title);
  if (limit === undefined) return undefined;
  return { ...(what.term !== undefined && { term: what.term }), [kind]: limit };
}

interface Scored extends QuickPickItem {
  /** undefined: the combined reward. */
  readonly term: string | undefined;
  readonly value: number;
}

async function askWhat(
  { reward = null, rewards = {} }: RolloutRow,
  title: string,
): Promise<Scored | undefined> {
  const single = Object.entries(rewards).flatMap(([term, value]): Scored[] =>
    value === null || typeof value === "object"
      ? []
      : [{ label: term, description: formatNumber(Number(value)), term, value: Number(value) }],
  );
  const all = fromWire(reward);
  const combined = {
    label: "the combined reward",
    description: formatNumber(all),
    term: undefined,
    value: all,
  };
  // With one term they are the same.
  if (single.length === 1) return single[0];
  return window.showQuickPick([combined, ...single], { title, placeHolder: "What is the test about?" });
}

async function askLimit(
  kind: Exclude<Kind, "beats">,
  { label, value }: Scored,
  title: string,
): Promise<number | undefined> {
  const text = await window.showInputBox({
    title,
    prompt: `${label} must be ${kind === "at_most" ? "at most" : "at least"}; it was ${formatNumber(value)}`,
    value: kind === "at_most" ? "0" : String(Number.isFinite(value) ? value : 1),
    validateInput: (typed) =>
      typed.trim() !== "" && Number.isFinite(Number(typed)) ? undefined : "Write a number.",
  });
  return text === undefined ? undefined : Number(text);
}
