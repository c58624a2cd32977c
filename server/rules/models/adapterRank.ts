import { isOwn, placeOf, type Rule } from "../rule.ts";

/** A low-rank adapter has a lower rank than what it adapts. */
export const adapterRank: Rule = {
  id: "adapter-rank",
  title: "Low-rank adapter with full rank",
  why: "LoRA trains ΔW = (α/r)·BA with A of r rows and B of r columns instead of W (Hu et al., LoRA). With r as large as the model's width the product can be any matrix and has at least twice as many numbers as W, so it costs more than training the weights themselves.\n\nTake a rank of a quarter of the width or less, or train all weights.",
  check({ config, root, report, edits }) {
    const { adapter, size, base } = config.model;
    const at = placeOf(root, "model", "adapter", "rank");
    if (adapter === undefined || base !== "tiny" || adapter.rank < size.width || !isOwn(at)) return;
    const fitting = Math.max(1, Math.floor(size.width / 8));
    report({
      rule: adapterRank.id,
      severity: "warning",
      message: `The adapter's rank ${adapter.rank} is not below the model's width ${size.width}, so it has more weights than the matrices it adapts.`,
      key: "model.adapter.rank",
      at,
      related: [{ at: placeOf(root, "model", "size", "width"), message: "the width" }],
      fileFixes: [
        edits.set(
          ["model", "adapter", "rank"],
          String(fitting),
          `Change to ${fitting} (= width ${size.width} / 8)`,
        ),
      ],
    });
  },
};
