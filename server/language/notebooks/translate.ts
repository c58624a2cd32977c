/**
 * A request about a cell as one about its module, and the answer at the cells' places again. Positions, ranges, locations
 * and edits have one shape in all of the protocol, so no feature is known here.
 */
import { Position, Range, type TextEdit } from "vscode-languageserver";
import type { CellModule } from "./cellModule.ts";

type Members = Readonly<Record<string, unknown>>;
const isMembers = (value: unknown): value is Members => typeof value === "object" && value !== null;

/** What has no place in the other text. */
const elsewhere = Symbol("elsewhere");

const each = (value: Members, of: (inner: unknown, key: string) => unknown): unknown => {
  const made = Object.entries(value).map(([key, inner]) => [key, of(inner, key)] as const);
  return made.some(([, inner]) => inner === elsewhere) ? elsewhere : Object.fromEntries(made);
};
const those = (values: readonly unknown[], of: (value: unknown) => unknown): unknown[] =>
  values.map(of).filter((value) => value !== elsewhere);

/** The document that a request is about. */
export function askedOf(params: unknown): string | undefined {
  const document = isMembers(params) ? params["textDocument"] : undefined;
  const uri = isMembers(document) ? document["uri"] : undefined;
  return typeof uri === "string" ? uri : undefined;
}

/** @returns undefined: the module does not hold the cell */
export function inModule<Params>(params: Params, module: CellModule, cell: string): Params | undefined {
  const isOfModule = (uri: unknown): uri is string => module.cells.some((one) => one.uri === uri);
  const of = (value: unknown, uri: string): unknown => {
    if (Array.isArray(value)) return those(value, (one) => of(one, uri));
    if (Position.is(value)) return module.toModule(uri, value) ?? elsewhere;
    if (!isMembers(value)) return value;
    const own = isOfModule(value["uri"]) ? value["uri"] : uri;
    return each(value, (inner, key) => (key === "uri" && own === inner ? module.uri : of(inner, own)));
  };
  const made = of(params, cell);
  return made === elsewhere ? undefined : (made as Params);
}

/** @returns undefined: all of the answer is about other cells */
export function inCells<Answer>(answer: Answer, module: CellModule, cell: string): Answer | undefined {
  const location = (value: Members, range: Range): unknown => {
    const place = module.toCell(range);
    return place === undefined ? elsewhere : { ...value, uri: place.uri, range: place.range };
  };
  const of = (value: unknown, key = ""): unknown => {
    if (Array.isArray(value)) return those(value, (one) => of(one));
    if (!isMembers(value)) return value;
    if (Range.is(value)) return ofCell(value)?.range ?? elsewhere;
    if (Position.is(value)) return ofCell({ start: value, end: value })?.range.start ?? elsewhere;
    if (key === "changes") return byCell(value as Changes, module);
    const { uri, range } = value;
    if (typeof uri === "string" && Range.is(range))
      return uri === module.uri ? location(value, range) : value;
    return each(value, of);
  };
  const ofCell = (range: Range): { readonly range: Range } | undefined => {
    const place = module.toCell(range);
    return place?.uri === cell ? place : undefined;
  };
  const made = of(answer);
  return made === elsewhere ? undefined : (made as Answer);
}

type Changes = Readonly<Record<string, readonly TextEdit[]>>;

/** A workspace's edit: those of the module go to its cells, all of them or none. */
function byCell(changes: Changes, module: CellModule): Changes | typeof elsewhere {
  const { [module.uri]: own = [], ...others } = changes;
  const made: Record<string, TextEdit[]> = {};
  for (const edit of own) {
    const place = module.toCell(edit.range);
    if (place === undefined) return elsewhere;
    (made[place.uri] ??= []).push({ ...edit, range: place.range });
  }
  return { ...others, ...made };
}
