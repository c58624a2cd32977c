/** Explains the rollout that the mouse is over, once for each. */
import { Hover, MarkdownString, type Range } from "vscode";
import { commands } from "../../../shared/editor/contributions.ts";
import { messageOf } from "../../../shared/lib/errors.ts";
import { rolloutsWhy } from "../../../shared/protocol/protocol.ts";
import type { Stores } from "../connection/stores.ts";
import type { RolloutAddress } from "./address.ts";
import { plainMarkdown, whyMarkdown } from "./whyText.ts";

/** What can be done with a rollout, above what is said of it. */
const offered = {
  rolloutOpen: "Open",
  rolloutDiff: "Diff with Sibling…",
  taskFollow: "Follow This Task",
  rolloutPin: "Pin as Test…",
} as const;

const mostKnown = 64;

export class WhyHovers {
  readonly #known = new Map<string, Promise<string>>();

  constructor(private readonly stores: Stores) {}

  async hover(address: RolloutAddress, range: Range): Promise<Hover> {
    const words = encodeURIComponent(JSON.stringify([address]));
    const links = Object.entries(offered).map(
      ([name, label]) => `[${label}](command:${commands[name as keyof typeof offered]}?${words})`,
    );
    const text = new MarkdownString(`${links.join(" · ")}\n\n${await this.#text(address)}`);
    text.isTrusted = {
      enabledCommands: Object.keys(offered).map((name) => commands[name as keyof typeof offered]),
    };
    return new Hover(text, range);
  }

  #text(address: RolloutAddress): Promise<string> {
    const key = JSON.stringify(address);
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const asked = this.#ask(address);
    this.#known.set(key, asked);
    // A daemon that is away may be back when the next one asks.
    asked.catch(() => this.#known.delete(key));
    if (this.#known.size > mostKnown) this.#known.delete(this.#known.keys().next().value!);
    return asked.catch((error: unknown) => plainMarkdown(messageOf(error)));
  }

  async #ask({ run, step, group, index }: RolloutAddress): Promise<string> {
    const session = await this.stores.connectedFor(run);
    return whyMarkdown(await session.ask(rolloutsWhy, { run, step, group, index }));
  }
}
