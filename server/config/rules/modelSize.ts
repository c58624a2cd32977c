import type { ModelConfig } from "../resolved.ts";
import { mine, placeOf, type ConfigModel, type Rule } from "./rule.ts";

/** Heads share the width evenly, and rotary positions turn pairs of numbers. */
export const modelSize: Rule = {
  id: "model-size",
  check(config) {
    checkSize(config, config.config.model, ["model"]);
    for (const model of config.config.models)
      if (model.kind === "opened") checkSize(config, model.model, ["models", model.name]);
  },
};

function checkSize(
  { root, file, report }: ConfigModel,
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
    });
  } else if (heads % kv_heads !== 0) {
    report({
      rule: modelSize.id,
      message: `\`${key}.kv_heads\` ${kv_heads} must divide \`${key}.heads\` ${heads}.`,
      key: `${key}.kv_heads`,
      at: find("kv_heads", "heads") ?? root.origin,
    });
  }
}
