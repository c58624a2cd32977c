import { mine, placeOf, type Rule } from "./rule.ts";

/** Heads share the width evenly, and rotary positions turn pairs of numbers. */
export const modelSize: Rule = {
  id: "model-size",
  check({ config, root, file, report }) {
    const { width, heads, kv_heads } = config.model.size;
    if (config.model.base !== "tiny") return;
    const find = (...keys: readonly string[]): ReturnType<typeof placeOf> =>
      mine(file, ...keys.map((key) => placeOf(root, "model", key)));
    if (width % heads !== 0 || (width / heads) % 2 !== 0) {
      report({
        rule: modelSize.id,
        message: `\`model.width\` ${width} over \`model.heads\` ${heads} must be a whole even number.`,
        key: "model.heads",
        at: find("heads", "width") ?? root.origin,
      });
    } else if (heads % kv_heads !== 0) {
      report({
        rule: modelSize.id,
        message: `\`model.kv_heads\` ${kv_heads} must divide \`model.heads\` ${heads}.`,
        key: "model.kv_heads",
        at: find("kv_heads", "heads") ?? root.origin,
      });
    }
  },
};
