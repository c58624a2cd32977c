/** A response as the pieces it is made of: what was prefilled or taken over, and what the policy generated before and after it. */
import { plural } from "../lib/format.ts";
import type { RolloutRow } from "./rollouts.ts";
import type { Origin } from "./fields.ts";
import { onLines } from "./turnTexts.ts";

/** observed: said to the policy between two attempts. */
export interface ResponsePart {
  readonly kind: Origin;
  readonly text: string;
}

/** Attempts, and what was said between them; undefined where a rollout is one response, or the texts of turns are not recorded. */
function turnParts({ turns, help }: Pick<RolloutRow, "turns" | "help">): ResponsePart[] | undefined {
  if (turns === undefined || turns.some(({ text }) => text === undefined)) return undefined;
  const texts = onLines(turns.map(({ text = "" }) => text));
  const parts = turns.map(({ role, end }, i): ResponsePart => ({
    kind: role !== "assistant" ? "observed" : end <= (help?.given ?? 0) ? "given" : "written",
    text: texts[i]!,
  }));
  return parts.filter(({ text }) => text !== "");
}

/** The pieces, in order; one, where nothing was given. */
export function responseParts({
  response = "",
  help,
  spans,
  parent,
  turns,
}: Pick<RolloutRow, "response" | "help" | "spans" | "parent" | "turns">): ResponsePart[] {
  const episode = turnParts({ ...(turns && { turns }), ...(help && { help }) });
  if (episode !== undefined) return episode;
  const given = help?.text ?? parent?.text ?? "";
  // What a branch took over comes first. What continues an attempt was prefilled after it.
  const from = given === "" ? -1 : response.indexOf(given, spans?.["attempt"] === undefined ? 0 : 1);
  if (from < 0) return response === "" ? [] : [{ kind: "written", text: response }];
  const parts: ResponsePart[] = [
    { kind: "written", text: response.slice(0, from) },
    { kind: "given", text: given },
    { kind: "written", text: response.slice(from + given.length) },
  ];
  return parts.filter(({ text }) => text !== "");
}

export const isMarked = (parts: readonly ResponsePart[]): boolean =>
  parts.some(({ kind }) => kind !== "written");

/** What surrounds a piece where only text can mark it. */
export const brackets: Readonly<Record<Origin, readonly [open: string, close: string]>> = {
  written: ["", ""],
  given: ["⟦", "⟧"],
  observed: ["⟪", "⟫"],
};

export const bracketed = (parts: readonly ResponsePart[]): string =>
  parts.map(({ kind, text }) => `${brackets[kind][0]}${text}${brackets[kind][1]}`).join("");

/** How many tokens of each kind a rollout has, and how many of them train; undefined: it is not recorded. */
interface TokenTally {
  readonly tokens: number;
  readonly trained: number;
}

/** "4 prefilled tokens do not train", "all 12 generated tokens train", "2 of 4 prefilled tokens train". */
function trainsText(kind: "prefilled" | "generated", { tokens, trained }: TokenTally): string {
  const all = plural(tokens, `${kind} token`);
  const verb = tokens === 1 ? "trains" : "train";
  if (trained === 0) return `${all} ${tokens === 1 ? "does" : "do"} not train`;
  return trained === tokens ? `${tokens === 1 ? "" : "all "}${all} ${verb}` : `${trained} of ${all} train`;
}

/** What of a helped rollout trains, as a sentence without its end; undefined where it is not recorded. */
export function trainingText(help: NonNullable<RolloutRow["help"]>): string | undefined {
  const { trains } = help;
  if (trains === undefined) return undefined;
  const { given, written } = trains;
  return [
    ...(given.tokens > 0 ? [trainsText("prefilled", given)] : []),
    ...(written.tokens > 0 ? [trainsText("generated", written)] : []),
  ].join(", ");
}
