import { eachStage, pathIn, placeOf, reportAt, type Rule } from "../rule.ts";

/** A response that may not end before it must. */
export const minTokens: Rule = {
  id: "min-tokens",
  title: "Responses that cannot end before they are cut off",
  why: "A response cannot end before it has `rollout.min_tokens` tokens. If that is more than `rollout.max_tokens`, every response is cut off and none is ever finished.",
  check: eachStage((view, model) => {
    const { min_tokens, max_tokens } = view.config.body.rollout;
    if (min_tokens <= max_tokens) return;
    const message = `\`rollout.min_tokens\` ${min_tokens} is more than \`rollout.max_tokens\` ${max_tokens}, so every response would be cut off.`;
    const path = (key: string): ReturnType<typeof pathIn> =>
      pathIn(view, placeOf(view.body, "rollout", key), "rollout", key);
    const paths = [
      ["rollout", "min_tokens"],
      ["rollout", "max_tokens"],
    ];
    reportAt(model, view, minTokens, paths, {
      key: "rollout.min_tokens",
      message,
      related: [{ at: placeOf(view.body, "rollout", "max_tokens"), message: `at most ${max_tokens}` }],
      fileFixes: [
        model.edits.set(
          path("min_tokens"),
          String(max_tokens),
          `Change \`min_tokens\` to ${max_tokens} (= \`max_tokens\`)`,
        ),
        model.edits.set(
          path("max_tokens"),
          String(min_tokens),
          `Change \`max_tokens\` to ${min_tokens} (= \`min_tokens\`)`,
          false,
        ),
      ],
    });
  }),
};
