import { setTo } from "../mend.ts";
import { found, rollout, verlRule } from "../rule.ts";

const key = `${rollout}.mode`;

export const rolloutMode = verlRule({
  id: "verl-rollout-mode",
  title: "A way of generating that is gone",
  why: "Since 0.7 engines run as servers only: `RolloutConfig.__post_init__` (verl/workers/config/rollout.py) refuses `mode=sync`, and warns of every other word but `async`.",
  since: "0.7.0",
  check(model) {
    const mode = model.text(key);
    if (mode === undefined || mode === "async") return [];
    const removed = mode === "sync";
    const message = removed
      ? "`rollout.mode` `sync` was removed in verl 0.7: engines run as servers, `async`."
      : `\`rollout.mode\` \`${mode}\` is none of verl's: it goes on as \`async\`.`;
    return found(model, [key], message, {
      severity: removed ? "error" : "warning",
      fixes: [setTo(model, key, "async")],
    });
  },
});
