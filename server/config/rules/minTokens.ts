import { mine, placeOf, underneath, type Rule } from "./rule.ts";

/** A response that may not end before it must. */
export const minTokens: Rule = {
  id: "min-tokens",
  check({ stages, file, root, report }) {
    for (const view of stages) {
      const { min_tokens, max_tokens } = view.config.body.rollout;
      if (min_tokens <= max_tokens) continue;
      const at =
        mine(
          file,
          placeOf(view.body, "rollout", "min_tokens"),
          placeOf(view.body, "rollout", "max_tokens"),
        ) ?? root.origin;
      const message = `\`rollout.min_tokens\` ${min_tokens} is more than \`rollout.max_tokens\` ${max_tokens}: every response would be cut off.`;
      report({ rule: minTokens.id, message, key: underneath(view, at, "rollout.min_tokens"), at });
    }
  },
};
