/** Token heat: a rollout's tokens coloured by a channel that is chosen in the status bar. */
import {
  MarkdownString,
  Range,
  Selection,
  StatusBarAlignment,
  TextEditorRevealType,
  window,
  workspace,
  type Disposable,
  type QuickPickItem,
  type TextDocument,
  type TextEditor,
  type Uri,
} from "vscode";
import { commands, schemes } from "../../../../shared/editor/contributions.ts";
import { messageOf } from "../../../../shared/lib/errors.ts";
import { formatCount, formatNumber, plural } from "../../../../shared/lib/format.ts";
import { rolloutsTokens } from "../../../../shared/protocol/protocol.ts";
import { tokenChannels, type TokenChannel } from "../../../../shared/rollouts/tokenChannels.ts";
import { Nothing, register } from "../../../vscode/commands.ts";
import { output } from "../../../vscode/output.ts";
import type { Stores } from "../../connection/stores.ts";
import type { RolloutDocuments, Shown } from "../one/provider.ts";
import { scaleText } from "./buckets.ts";
import { heatOf, nextOf, outliersOf, unusedOf } from "./layers.ts";
import { spansOf } from "./spans.ts";
import { TokenStyles } from "./styles.ts";
import { TokenMap, type HeatChannel, type Stretch } from "./tokenMap.ts";
import { tokenMarkdown } from "./tokenText.ts";

/** Lines around what is seen that are coloured too, so that a little scrolling shows no white. */
const margin = 100;

const rangeOf = ({ line, from, to }: Stretch): Range => new Range(line, from, line, to);

/** `training`: no colours, but what does not train is dimmed. */
type Shows = TokenChannel | "training" | undefined;

interface Choice extends QuickPickItem {
  readonly shows: Shows;
}

export class TokenHeat implements Disposable {
  readonly #styles = new TokenStyles();
  readonly #item = window.createStatusBarItem("gradus.heat", StatusBarAlignment.Right, 90);
  /** By document, of those that are open. */
  readonly #maps = new Map<string, Promise<TokenMap>>();
  #shows: Shows;
  readonly #disposables: Disposable[];

  constructor(
    private readonly stores: Stores,
    private readonly documents: RolloutDocuments,
  ) {
    this.#item.name = "Gradus Token Heat";
    this.#item.command = commands.heatChoose;
    this.#disposables = [
      this.#item,
      ...this.#styles.all,
      window.onDidChangeVisibleTextEditors((editors) => editors.forEach((one) => void this.#paint(one))),
      window.onDidChangeTextEditorVisibleRanges(({ textEditor }) => void this.#paint(textEditor)),
      window.onDidChangeActiveTextEditor(() => void this.#say()),
      workspace.onDidCloseTextDocument(({ uri }) => this.#maps.delete(uri.toString())),
      register("heatChoose", () => this.#choose()),
      register("heatNext", () => this.#go(true)),
      register("heatPrevious", () => this.#go(false)),
    ];
  }

  dispose(): void {
    for (const disposable of this.#disposables) disposable.dispose();
  }

  /** What is known of the token at a place; undefined: nothing is shown of tokens there. */
  async hover(document: TextDocument, line: number, character: number): Promise<MarkdownString | undefined> {
    const shown = this.documents.of(document);
    if (shown === undefined || line < shown.body) return undefined;
    const spans = spansOf(shown.rollout);
    if (this.#shows === undefined && spans.length === 0) return undefined;
    const map = await this.#map(document.uri, shown);
    const text = tokenMarkdown(map, map.at(line, character), shown.rollout.response ?? "", spans);
    return text === "" ? undefined : new MarkdownString(text);
  }

  #map(uri: Uri, shown: Shown): Promise<TokenMap> {
    const key = uri.toString();
    const known = this.#maps.get(key);
    if (known !== undefined) return known;
    const asked = this.#ask(shown);
    this.#maps.set(key, asked);
    asked.catch(() => this.#maps.delete(key));
    return asked;
  }

  async #ask({ address, response }: Shown): Promise<TokenMap> {
    const { run, step, group, index } = address;
    const session = await this.stores.connectedFor(run);
    return new TokenMap(await session.ask(rolloutsTokens, { run, step, group, index }), response);
  }

  /** The active rollout, with its tokens. @throws UserError where none is open, or it has none that could be shown */
  async #active(): Promise<{ readonly shown: Shown; readonly map: TokenMap; readonly editor: TextEditor }> {
    const editor = window.activeTextEditor;
    const shown = editor && this.documents.of(editor.document);
    if (editor === undefined || shown === undefined)
      throw new Nothing("No rollout is open.", "Open one: Gradus: Open Rollouts, then its number.");
    const map = await this.#map(editor.document.uri, shown);
    if (map.total === 0 || map.reason !== null)
      throw new Nothing(
        map.reason ?? "The rollout has no tokens.",
        "Rollouts that Gradus records have them; of other trainers see docs/rollouts.md.",
      );
    return { shown, map, editor };
  }

  async #choose(): Promise<void> {
    const { map } = await this.#active();
    const items: Choice[] = [
      { label: "Off", shows: undefined },
      ...map.channels.map(({ channel, scale, count }) => ({
        label: tokenChannels[channel].label,
        description: `${scaleText(scale)}, ${plural(count, "token")}`,
        detail: tokenChannels[channel].meaning,
        shows: channel,
      })),
      {
        label: "what trains",
        description: trainedText(map),
        detail: "observed, prefilled and masked tokens are dimmed",
        shows: "training",
      },
    ];
    const chosen = await window.showQuickPick(items, {
      title: "Colour Tokens By",
      placeHolder: "A channel that this run recorded; the scale is from its 1st to its 99th percentile",
      matchOnDetail: true,
    });
    if (chosen === undefined) return;
    this.#shows = chosen.shows;
    await this.#say();
    await Promise.all(window.visibleTextEditors.map((one) => this.#paint(one)));
  }

  /** Selects the next token at an end of the scale. */
  async #go(forward: boolean): Promise<void> {
    if (this.#shows === undefined || this.#shows === "training") return this.#choose();
    const { map, editor } = await this.#active();
    const channel = map.channel(this.#shows);
    const { line, character } = editor.selection.start;
    const here = map.from(line, character);
    const outliers =
      channel === undefined ? [] : outliersOf(map, channel).filter((one) => map.stretches(one).length > 0);
    const next = nextOf(outliers, forward && editor.selection.isEmpty ? here - 1 : here, forward);
    if (channel === undefined || next === undefined) {
      window.setStatusBarMessage("No token is at an end of the scale.", 5_000);
      return;
    }
    const stretches = map.stretches(next);
    const [first, last] = [stretches[0]!, stretches.at(-1)!];
    // The cursor is at its beginning, where a hover is about it.
    editor.selection = new Selection(last.line, last.to, first.line, first.from);
    editor.revealRange(editor.selection, TextEditorRevealType.InCenterIfOutsideViewport);
    window.setStatusBarMessage(
      `${tokenChannels[channel.channel].label} ${formatNumber(channel.values[next])}: ${outliers.indexOf(next) + 1} of ${outliers.length} at the ends of the scale`,
      10_000,
    );
  }

  /** The channel and its scale, where a rollout is being read. */
  async #say(): Promise<void> {
    const editor = window.activeTextEditor;
    const shown = editor && this.documents.of(editor.document);
    if (editor === undefined || shown === undefined) return this.#item.hide();
    const map = this.#shows === undefined ? undefined : await this.#known(editor.document.uri, shown);
    if (window.activeTextEditor !== editor) return;
    const { text, tooltip } = said(this.#shows, map);
    this.#item.text = `$(flame) ${text}`;
    this.#item.tooltip = tooltip;
    this.#item.show();
  }

  /** undefined: they cannot be read. */
  async #known(uri: Uri, shown: Shown): Promise<TokenMap | undefined> {
    try {
      return await this.#map(uri, shown);
    } catch (error) {
      output().warn(`tokens of ${uri.path}: ${messageOf(error)}`);
      return undefined;
    }
  }

  async #paint(editor: TextEditor): Promise<void> {
    if (editor.document.uri.scheme !== schemes.rollout) return;
    const shown = this.documents.of(editor.document);
    if (shown === undefined) return;
    await this.#say();
    const spans = spansOf(shown.rollout);
    if (this.#shows === undefined && spans.length === 0) return this.#clear(editor);
    const map = await this.#known(editor.document.uri, shown);
    if (map?.placed !== true) return this.#clear(editor);
    const first = Math.max(0, (editor.visibleRanges[0]?.start.line ?? 0) - margin);
    const last = (editor.visibleRanges.at(-1)?.end.line ?? 0) + margin;
    const [from, to] = map.on(first, last);
    this.#paintHeat(editor, map, from, to);
    this.#paintTerms(editor, map, shown);
  }

  #paintHeat(editor: TextEditor, map: TokenMap, from: number, to: number): void {
    const channel = channelOf(this.#shows, map);
    const set = (styles: TokenStyles["sequential"], layers: readonly Stretch[][]): void =>
      styles.forEach((style, bucket) => editor.setDecorations(style, (layers[bucket] ?? []).map(rangeOf)));
    const layers = channel === undefined ? [] : heatOf(map, channel, from, to);
    const signed = channel?.scale.signed === true;
    set(this.#styles.sequential, signed ? [] : layers);
    set(this.#styles.signed, signed ? layers : []);
    const unused = this.#shows === undefined ? undefined : unusedOf(map, from, to);
    for (const kind of ["observed", "given", "masked"] as const)
      editor.setDecorations(this.#styles.unused[kind], (unused?.[kind] ?? []).map(rangeOf));
    const outliers = channel === undefined ? [] : outliersOf(map, channel);
    editor.setDecorations(
      this.#styles.outlier,
      outliers.flatMap((token) => map.stretches(token)).map(rangeOf),
    );
  }

  /** What a term scored is underlined as its name in the head is. */
  #paintTerms(editor: TextEditor, map: TokenMap, { rollout, terms }: Shown): void {
    const spans = spansOf(rollout);
    const names = [...new Set(spans.map(({ term }) => term))];
    this.#styles.terms.forEach((style, at) => {
      const own = names.filter((_, i) => i % this.#styles.terms.length === at);
      const places = own.flatMap((term) => terms.get(term) ?? []);
      const scored = spans.filter(({ term }) => own.includes(term));
      const stretches = scored.flatMap(({ from, to }) =>
        Array.from({ length: to - from }, (_, i) => map.stretches(from + i)).flat(),
      );
      editor.setDecorations(style, [...places, ...stretches].map(rangeOf));
    });
  }

  #clear(editor: TextEditor): void {
    for (const style of this.#styles.all) editor.setDecorations(style, []);
  }
}

const channelOf = (shows: Shows, map: TokenMap): HeatChannel | undefined =>
  shows === undefined || shows === "training" ? undefined : map.channel(shows);

const trainedText = ({ mask, total }: TokenMap): string =>
  `${formatCount(mask.reduce((sum, one) => sum + one, 0))} of ${plural(total, "token")}`;

/** What the status bar says. */
function said(shows: Shows, map: TokenMap | undefined): { readonly text: string; readonly tooltip: string } {
  if (shows === undefined)
    return {
      text: "Token heat: off",
      tooltip: "Colour the response's tokens by what the run recorded of them.",
    };
  if (shows === "training")
    return {
      text: map === undefined ? "what trains: not recorded" : `${trainedText(map)} train`,
      tooltip: "Dimmed tokens do not train: observed, prefilled (dotted) and masked (struck through) ones.",
    };
  const { label, meaning } = tokenChannels[shows];
  const channel = map?.channel(shows);
  if (channel === undefined)
    return {
      text: `${label}: not recorded`,
      tooltip: "This rollout's log lacks the channel. Choose another.",
    };
  return {
    text: `${label} ${scaleText(channel.scale)}`,
    tooltip: `${meaning}. The scale goes from the 1st to the 99th percentile of ${plural(channel.count, "generated token")}; what is beyond has the colour of the end, with a line below. Dimmed tokens do not train.`,
  };
}
