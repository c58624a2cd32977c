import { eachRlStage, isOwn, pathIn, placeOf, reportAt, type Rule } from "../rule.ts";

/** A length term gives different values for some lengths that a response can have. */
export const longPenalty: Rule = {
  id: "length-limit",
  title: "Length penalty that no response reaches",
  why: "`length` with `shape: limit` or `soft_overlong` gives 0 up to a length and less beyond it (Yu et al., DAPO, soft overlong punishment). A response has at most `rollout.max_tokens` tokens: if the penalty begins there or later, every response gets the same and the term has no effect. With `soft_overlong` a `cache` longer than `limit` punishes even an empty response.\n\nLet `limit` be `rollout.max_tokens`, the default.",
  check: eachRlStage((view, model) => {
    const { reward, rollout } = view.config.body;
    for (const { name, term, attempts } of reward.terms) {
      if (attempts === "episode") continue;
      const { shape, limit: own, cache: buffer } = term.params;
      if (term.declaration.name !== "length" || (shape !== "limit" && shape !== "soft_overlong")) continue;
      const limit = typeof own === "number" ? own : rollout.max_tokens;
      const cache = shape === "limit" ? 0 : typeof buffer === "number" ? buffer : limit / 5;
      const path = ["reward", "terms", name, "limit"];
      const wide = cache > limit;
      if (limit - cache < rollout.max_tokens && !wide) continue;
      const at = wide ? ["reward", "terms", name, "cache"] : path;
      if (!isOwn(placeOf(view.body, ...at)) && !isOwn(placeOf(view.body, "reward", "terms", name))) continue;
      reportAt(model, view, longPenalty, [at, ["reward", "terms", name]], {
        severity: "warning",
        message: wide
          ? `\`${name}\`: \`cache\` ${cache} is longer than \`limit\` ${limit}, so even the shortest response is punished.`
          : `\`${name}\` begins to punish beyond ${limit - cache} tokens, but a response has at most ${rollout.max_tokens}, so every response gets the same.`,
        related: [{ at: placeOf(view.body, "rollout", "max_tokens"), message: "the longest response" }],
        fileFixes:
          wide || typeof own !== "number"
            ? []
            : [
                model.edits.set(
                  pathIn(view, placeOf(view.body, ...path), ...path),
                  String(rollout.max_tokens),
                  `Change \`limit\` to ${rollout.max_tokens} (= rollout.max_tokens)`,
                  shape === "soft_overlong",
                ),
              ],
      });
    }
  }),
};
