import type { ModelConfig } from "../../core/blocks/models.ts";
import type { ConfigModel } from "../../config/check/model.ts";
import { mine, placeOf, type Rule } from "../rule.ts";

/** Heads share the width evenly, and rotary positions turn pairs of numbers. */
export const modelSize: Rule = {
  id: "model-size",
  title: "Heads that do not divide the width",
  why: "Attention heads share the model's width evenly, and rotary positions turn pairs of numbers (Su et al., RoFormer): `width / heads` is a whole even number. Heads that share keys and values do so in groups of one size: `kv_heads` divides `heads` (Ainslie et al., GQA).",
  check(config) {
    checkSize(config, config.config.model, ["model"]);
    for (const model of config.config.models)
      if (model.kind === "opened") checkSize(config, model.model, ["models", model.name]);
  },
};

function checkSize(
  { root, file, report, edits }: ConfigModel,
  { base, size: { width, heads, kv_heads } }: ModelConfig,
  path: readonly string[],
): void {
  if (base !== "tiny") return;
  const key = path.join(".");
  const find = (...keys: readonly string[]): ReturnType<typeof placeOf> =>
    mine(file, ...keys.map((name) => placeOf(root, ...path, name))) ?? placeOf(root, ...path);
  if (width % heads !== 0 || (width / heads) % 2 !== 0) {
    report({
      rule: modelSize.id,
      message: `\`${key}.width\` ${width} over \`${key}.heads\` ${heads} must be a whole even number.`,
      key: `${key}.heads`,
      at: find("heads", "width") ?? root.origin,
      fileFixes: fitting(heads, width, (n) => width % n === 0 && (width / n) % 2 === 0).map((n) =>
        edits.set([...path, "heads"], String(n), `Change \`heads\` to ${n} (= ${width} / ${width / n})`),
      ),
    });
  } else if (heads % kv_heads !== 0) {
    report({
      rule: modelSize.id,
      message: `\`${key}.kv_heads\` ${kv_heads} must divide \`${key}.heads\` ${heads}.`,
      key: `${key}.kv_heads`,
      at: find("kv_heads", "heads") ?? root.origin,
      fileFixes: fitting(kv_heads, heads, (n) => heads % n === 0).map((n) =>
        edits.set(
          [...path, "kv_heads"],
          String(n),
          `Change \`kv_heads\` to ${n} (= ${heads} / ${heads / n})`,
        ),
      ),
    });
  }
}

/** A number that fits is searched no farther from the written one than this. */
const farthest = 4096;

/** The nearest divisor of `whole` that fits, if any does. */
function fitting(wanted: number, whole: number, fits: (n: number) => boolean): number[] {
  const from = Math.min(wanted, whole);
  for (let distance = 0; distance <= farthest; distance++)
    for (const n of [from - distance, from + distance]) if (n >= 1 && fits(n)) return [n];
  return [];
}
