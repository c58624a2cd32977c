/** What may be the value at a spot. */
import type { z } from "zod";
import { scheduleSchema } from "../../core/schedule.ts";
import { type Declaration, type SlotName } from "../../core/declaration.ts";
import { referenceOf, type Reference } from "../../core/references.ts";
import { isRequired, isSchema, keysOf, kindOf, unwrapped, wordsOf } from "../../config/check/values.ts";
import { methods } from "../../methods/index.ts";
import type { Spot } from "../spot.ts";
import { defaultOf, summaryOf } from "./keys.ts";
import { methodText } from "../hovers/methodText.ts";
import { tierOf, type MethodOffer, type Offer } from "./offer.ts";
import { sampleOf } from "./sample.ts";
import { isResearch, isShippedSlot } from "./shipped.ts";

/** What a text names at this place; undefined where nothing is known of it. */
type ReferenceOffers = (reference: Reference) => readonly Offer[];

export function valuesAt(spot: Spot, named: ReferenceOffers): Offer[] {
  if (spot.kind === "method") return methodsOf(spot.slot);
  if (spot.kind === "schema") return schemaValues(spot.schema, named);
  const { shape } = spot;
  switch (shape.kind) {
    case "slot":
      return [...methodsOf(shape.slot), braces];
    case "path":
      return [
        ...shape.words.map((text): Offer => ({ kind: "word", text, detail: shape.what })),
        ...named({ to: "file", ends: pathEnds[shape.what] ?? [] }),
      ];
    case "value":
      return schemaValues(shape.schema, named);
    case "list":
    case "named_list":
      return [brackets];
    case "named_map":
      return [braces];
    case "map": {
      const short = shape.short === undefined ? undefined : shape.fields[shape.short]?.shape;
      const shortly =
        short === undefined
          ? []
          : valuesAt({ kind: "shape", shape: short, summary: "", node: undefined, merged: undefined }, named);
      return [...shortly, braces];
    }
    case "later":
      return [];
  }
}

/** What a path of the grammar may end in; a folder may always be one. */
const pathEnds: Readonly<Record<string, readonly string[]>> = {
  model: [".gguf", ".safetensors"],
  text: [".txt", ".md", ".jsonl"],
  list: [".json"],
};

const braces: Offer = { kind: "snippet", text: "{ }", snippet: "{ $1 }", detail: "in one line", rank: 900 };
const brackets: Offer = { kind: "snippet", text: "[]", snippet: "[$1]", detail: "in one line", rank: 900 };

const methodsOf = (slot: SlotName): MethodOffer[] =>
  methods
    .filter((method) => method.slot === slot && !["user", "python"].includes(method.name))
    .filter(({ name }) => slot !== "task" || !["dataset", "corpus", "harbor", "generated"].includes(name))
    .map((method) => {
      const research = isResearch(method);
      const status = method.status ?? "exact";
      return {
        kind: "method",
        text: method.name,
        detail: [...(research ? ["research"] : []), ...(status === "exact" ? [] : [status])].join(", "),
        says: () => methodText(method).join("\n\n"),
        needs: needsOf(method),
        use: slot === "task" ? "env" : "use",
        tier: tierOf(research, status),
        research: research && isShippedSlot(slot),
      };
    });

const needsOf = ({ params }: Declaration): Record<string, z.ZodType> =>
  Object.fromEntries(
    Object.entries(params.shape).filter(
      (entry): entry is [string, z.ZodType] => isSchema(entry[1]) && isRequired(entry[1]),
    ),
  );

/** The default comes first. */
function schemaValues(schema: z.ZodType, named: ReferenceOffers): Offer[] {
  const fallback = schema.safeParse(undefined);
  const usual = fallback.success ? fallback.data : undefined;
  const offers = optionValues(unwrapped(schema), named, usual);
  const plain = typeof usual === "number" || (typeof usual === "string" && usual !== "");
  const known = offers.some(({ text }) => text === String(usual));
  const first: Offer[] =
    plain && !known
      ? [{ kind: typeof usual === "number" ? "number" : "word", text: String(usual), detail: "default" }]
      : [];
  return [...first, ...offers].map((offer) =>
    usual !== undefined && offer.text === String(usual)
      ? {
          ...offer,
          detail: "default",
          preselect: true,
          says: () => `${summaryOf(schema)}${defaultOf(schema)}`,
        }
      : offer,
  );
}

function optionValues(schema: z.ZodType, named: ReferenceOffers, usual: unknown): Offer[] {
  const inner = unwrapped(schema);
  const reference = referenceOf(inner);
  if (reference !== undefined) return [...named(reference)];
  if (inner === scheduleSchema) return schedules(usual);
  const kind = kindOf(inner);
  switch (kind.kind) {
    case "union":
      return kind.options.flatMap((option) => optionValues(option, named, usual));
    case "object":
      return [objectSnippet(inner)];
    case "record":
      return [braces];
    case "array":
      return listed(optionValues(kind.element, named, undefined));
    case "tuple":
      return [tupleSnippet(kind.items)];
    default:
      return wordsOf(inner).map((text) => ({ kind: "word", text }));
  }
}

/** `[word]` for each that an item may be. */
function listed(items: readonly Offer[]): Offer[] {
  const words = items.filter(({ kind }) => kind !== "snippet" && kind !== "method" && kind !== "folder");
  return [
    ...words.map((item): Offer => ({
      kind: "snippet",
      text: `[${item.text}]`,
      snippet: `[${item.text}$1]`,
      detail: item.detail ?? "",
    })),
    brackets,
  ];
}

/** Where a number may move over steps: from its usual value to another. */
function schedules(usual: unknown): Offer[] {
  const from = typeof usual === "number" ? String(usual) : "1";
  const words = wordsOf(keysOf(scheduleSchema)["schedule"] ?? scheduleSchema);
  return words.map((shape) => ({
    kind: "snippet",
    text: `{ schedule: ${shape}, from: ${from}, to: 0, over: 100 }`,
    snippet: `{ schedule: ${shape}, from: \${1:${from}}, to: \${2:0}, over: \${3:100} }`,
    detail: "a value that changes over the steps",
    rank: 500,
  }));
}

/** A map in one line with the keys it needs. */
function objectSnippet(schema: z.ZodType): Offer {
  const needed = Object.entries(keysOf(schema)).filter(([, below]) => isRequired(below));
  if (needed.length === 0) return braces;
  const parts = needed.map(([key, below]) => [key, JSON.stringify(sampleOf(below))] as const);
  return {
    kind: "snippet",
    text: `{ ${parts.map(([key, value]) => `${key}: ${value}`).join(", ")} }`,
    snippet: `{ ${parts.map(([key, value], at) => `${key}: \${${at + 1}:${value}}`).join(", ")} }`,
    detail: "in one line",
    rank: 400,
  };
}

function tupleSnippet(items: readonly z.ZodType[]): Offer {
  const values = items.map((item) => JSON.stringify(sampleOf(item)));
  return {
    kind: "snippet",
    text: `[${values.join(", ")}]`,
    snippet: `[${values.map((value, at) => `\${${at + 1}:${value}}`).join(", ")}]`,
    detail: `a list of ${items.length} items`,
  };
}
