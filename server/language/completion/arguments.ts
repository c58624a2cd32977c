/** What a reward function of one's own takes from `args`. */
import { dirname } from "node:path";
import { child, textOf, type SourceNode } from "../../config/text/node.ts";
import { userFunction } from "../hovers/namedText.ts";
import type { Parameter, Signature } from "../../config/check/signatures/index.ts";
import type { Step } from "../spot.ts";
import type { Surroundings } from "./named.ts";
import { nodeAt } from "./named.ts";
import type { KeyOffer } from "./offer.ts";

/** Whether a path leads to the `args` of a reward term. */
export const isArguments = (path: readonly Step[]): boolean =>
  path.at(-1) === "args" && path.at(-3) === "terms";

/** The function that a term names: as the document says, else as it last resolved. */
export function functionAt(
  { cursor, merged, file }: Surroundings,
  term: readonly Step[],
): Signature | undefined {
  for (const root of [cursor.root, merged]) {
    const use = useOf(nodeAt(root, term));
    const folder = use === undefined || use.origin.folder === "" ? dirname(file) : use.origin.folder;
    const found = userFunction(textOf(use) ?? "", folder);
    if (found !== undefined) return found.signature;
  }
  return undefined;
}

const useOf = (term: SourceNode | undefined): SourceNode | undefined =>
  term?.kind === "map" ? child(term, "use") : term;

export const argumentKeys = (around: Surroundings): KeyOffer[] =>
  (functionAt(around, around.cursor.path.slice(0, -1))?.args ?? []).map(argumentKey);

const argumentKey = ({ name, type, usual, says }: Parameter): KeyOffer => ({
  kind: "key",
  text: name,
  opens: "value",
  required: usual === undefined && type?.includes("undefined") !== true,
  detail: type ?? "",
  says: () => [says ?? "", usual === undefined ? "" : `Default: \`${usual}\`.`].join(" ").trim(),
});
