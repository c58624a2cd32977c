import { mine, pathIn, placeOf, underneath, type Rule } from "../rule.ts";

/** A response that may not end before it must. */
export const minTokens: Rule = {
  id: "min-tokens",
  title: "Responses that cannot end before they are cut off",
  why: "A response cannot end before it has `rollout.min_tokens` tokens. If that is more than `rollout.max_tokens`, every response is cut off and none is ever finished.",
  check({ stages, file, root, report, edits }) {
    for (const view of stages) {
      const { min_tokens, max_tokens } = view.config.body.rollout;
      if (min_tokens <= max_tokens) continue;
      const at =
        mine(
          file,
          placeOf(view.body, "rollout", "min_tokens"),
          placeOf(view.body, "rollout", "max_tokens"),
        ) ?? root.origin;
      const message = `\`rollout.min_tokens\` ${min_tokens} is more than \`rollout.max_tokens\` ${max_tokens}, so every response would be cut off.`;
      const path = (key: string): ReturnType<typeof pathIn> =>
        pathIn(view, placeOf(view.body, "rollout", key), "rollout", key);
      report({
        rule: minTokens.id,
        message,
        key: underneath(view, at, "rollout.min_tokens"),
        at,
        related: [{ at: placeOf(view.body, "rollout", "max_tokens"), message: `at most ${max_tokens}` }],
        fileFixes: [
          edits.set(
            path("min_tokens"),
            String(max_tokens),
            `Change \`min_tokens\` to ${max_tokens} (= \`max_tokens\`)`,
          ),
          edits.set(
            path("max_tokens"),
            String(min_tokens),
            `Change \`max_tokens\` to ${min_tokens} (= \`min_tokens\`)`,
            false,
          ),
        ],
      });
    }
  },
};
