/** Keys that may change while a run is live, by their declarations. */
import type { Field, Shape } from "../../core/blocks/field.ts";
import { grammar } from "./grammar.ts";

/** As a person addresses them: `reward.terms.<name>.weight`, `kl.<n>.coefficient`. A stage has those of its blocks. */
export const liveKeys = (): readonly string[] => inside(grammar, "");

function inside(shape: Shape, above: string): string[] {
  switch (shape.kind) {
    case "map":
      return ofFields(shape.fields, above);
    case "slot":
      return ofFields(shape.own, above);
    case "list":
      return inside(shape.item, `${above}<n>.`);
    case "named_list":
    case "named_map":
      return inside(shape.item, `${above}<name>.`);
    default:
      return [];
  }
}

const ofFields = (fields: Readonly<Record<string, Field>>, above: string): string[] =>
  Object.entries(fields).flatMap(([key, { shape, live = [] }]) =>
    live === true
      ? [`${above}${key}`]
      : [...live.map((parameter) => `${above}${key}.${parameter}`), ...inside(shape, `${above}${key}.`)],
  );

/** Whether `gradus runs set` may change what is at a path, or in it. */
export const isLive = (path: string): boolean => liveKeys().some((key) => leadsTo(key, path));

function leadsTo(key: string, path: string): boolean {
  const steps = path.split(".");
  return key
    .split(".")
    .every((step, at) =>
      step === "<n>"
        ? /^\d+$/.test(steps[at] ?? "")
        : step === "<name>"
          ? (steps[at] ?? "") !== ""
          : step === steps[at],
    );
}
