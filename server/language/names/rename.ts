/** Renames, and why one cannot be done: an answer that a person can act on, before anything is typed. */
import { basename } from "node:path";
import type { TextEdit } from "vscode-languageserver";
import { parseDocument, isScalar } from "yaml";
import type { Position, Range } from "../../lib/lines.ts";
import { UserError } from "../../../shared/lib/errors.ts";
import type { ConfigFile, ConfigFiles } from "./configFiles.ts";
import { policyWords, words } from "./naming.ts";
import { readMetric } from "./metricParts.ts";
import type { Occurrence } from "./occurrences.ts";
import { declarations, everywhere, isPolicy, isSame, occurrenceAt, type SymbolOccurrence } from "./symbol.ts";
import { contains } from "../locate.ts";

/** @throws UserError with the reason, where what is there has no name of the person's own */
export function renameable(files: ConfigFiles, file: ConfigFile, at: Position): Occurrence {
  const symbol = occurrenceAt(file, at);
  if (symbol === undefined) throw new UserError(whyNothing(file, at), { code: "rename" });
  if (isPolicy(symbol))
    throw new UserError(
      `\`${symbol.name}\` is Gradus's own name for weights of the policy, so it cannot be renamed.`,
      { code: "rename" },
    );
  if (symbol.implied !== undefined)
    throw new UserError(
      `The task is called \`${symbol.name}\` because it has no \`name\`: add \`name:\` here, or rename it where it is referenced.`,
      { code: "rename" },
    );
  const declared = declarations(files, file.file, symbol);
  if (declared.length === 0)
    throw new UserError(`There is no ${words[symbol.kind]} \`${symbol.name}\` to rename.`, {
      code: "rename",
    });
  const inPreset = declared.find((place) => place.file.preset);
  if (inPreset !== undefined) throw new UserError(ofPreset(symbol, inPreset), { code: "rename" });
  return symbol;
}

const ofPreset = ({ kind, name }: Occurrence, { file }: SymbolOccurrence): string =>
  `The preset \`${basename(file.file, ".yaml")}\` references the ${words[kind]} \`${name}\`, and a preset cannot be changed.`;

function whyNothing({ names }: ConfigFile, at: Position): string {
  const metric = names.metrics.find(({ range }) => contains(range, at));
  if (metric === undefined)
    return "Only the names of stages, tasks, reward terms, models and value heads can be renamed.";
  const arm = readMetric(metric.name)?.parts.some(({ kind }) => kind === "arm") === true;
  return arm
    ? "An arm is named after its task and a value: rename the task."
    : `\`${metric.name}\` is the name of a metric, so it cannot be renamed.`;
}

/**
 * The edits of every file, by its uri.
 * @throws UserError where the new name would not be read as a name, or is taken
 */
export async function renames(
  files: ConfigFiles,
  file: ConfigFile,
  at: Position,
  newName: string,
): Promise<Record<string, TextEdit[]>> {
  const symbol = renameable(files, file, at);
  const name = newName.trim();
  refuseName(symbol, name);
  if (name === symbol.name) return {};
  const places = await everywhere(files, file.file, symbol);
  refuseUnreachable(symbol, places);
  const scope = [...new Set(places.map((place) => place.file))];
  const taken = scope
    .flatMap((one) => one.names.occurrences.map((occurrence) => ({ file: one, occurrence })))
    .find(
      ({ occurrence }) => occurrence.role !== "reference" && isSame(occurrence, { kind: symbol.kind, name }),
    );
  if (taken !== undefined)
    throw new UserError(`There is already a ${words[symbol.kind]} \`${name}\`, in ${placeText(taken)}.`, {
      code: "rename",
    });
  const edits: Record<string, TextEdit[]> = {};
  for (const { file: one, occurrence } of places) (edits[one.uri] ??= []).push(edit(occurrence, name));
  return edits;
}

/** Where the name would have to change and cannot. */
function refuseUnreachable(symbol: Occurrence, places: readonly SymbolOccurrence[]): void {
  const fixed = places.find(({ file }) => file.preset);
  if (fixed !== undefined) throw new UserError(ofPreset(symbol, fixed), { code: "rename" });
  const silent = places.find(({ occurrence }) => occurrence.unwritten !== undefined);
  if (silent === undefined) return;
  const { unwritten = "" } = silent.occurrence;
  throw new UserError(
    `\`${symbol.name}\` is read by default in ${placeText(silent)}: write \`${unwritten}: ${symbol.name}\` there first.`,
    { code: "rename" },
  );
}

const placeText = ({ file, occurrence }: SymbolOccurrence): string =>
  `${basename(file.file)}:${occurrence.range.start.line + 1}`;

/** A name has to be read as the same text in block and flow style, as a key and as a value. */
function refuseName({ kind }: Occurrence, name: string): void {
  const refuse = (why: string): never => {
    throw new UserError(`\`${name}\` cannot be the name of a ${words[kind]}: ${why}.`, { code: "rename" });
  };
  if (name === "") throw new UserError(`A ${words[kind]} needs a name.`, { code: "rename" });
  if (kind === "model" && policyWords.includes(name))
    refuse("Gradus uses this name for the model that trains");
  if ((kind === "model" || kind === "head") && !/^[A-Za-z_][\w-]*$/.test(name))
    refuse("use letters, digits, _ and -");
  if (/[,[\]{}\s"'`&*#|>%@!?\\:]/.test(name)) refuse("use letters, digits and . _ - /");
  const { contents, errors } = parseDocument(name);
  if (errors.length > 0 || !isScalar(contents) || contents.value !== name)
    refuse("YAML would not read it as text");
}

function edit({ implied, range }: Occurrence, name: string): TextEdit {
  if (implied === undefined) return { range, newText: name };
  if (implied.kind !== "map") return { range, newText: `{ env: ${textAt(implied)}, name: ${name} }` };
  const [first] = implied.entries.values();
  const start = first?.key.range.start ?? range.start;
  const flow = implied.origin.range.start.character < start.character;
  const at: Range = { start, end: start };
  return { range: at, newText: flow ? `name: ${name}, ` : `name: ${name}\n${" ".repeat(start.character)}` };
}

const textAt = (node: NonNullable<Occurrence["implied"]>): string =>
  node.kind === "scalar" ? String(node.value) : "";
