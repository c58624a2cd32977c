import { setTo } from "../fixes.ts";
import { found, rollout, verlRule } from "../rule.ts";

const key = `${rollout}.mode`;

export const rolloutMode = verlRule({
  id: "verl-rollout-mode",
  title: "Removed rollout mode",
  why: "Since 0.7 engines run as servers only: `RolloutConfig.__post_init__` (verl/workers/config/rollout.py) refuses `mode=sync`, and warns of any other value but `async`.",
  since: "0.7.0",
  check(model) {
    const mode = model.text(key);
    if (mode === undefined || mode === "async") return [];
    const removed = mode === "sync";
    const message = removed
      ? "verl 0.7 removed `rollout.mode` `sync`: engines run as servers, so use `async`."
      : `\`rollout.mode\` \`${mode}\` does not exist: verl uses \`async\`.`;
    return found(model, [key], message, {
      severity: removed ? "error" : "warning",
      fixes: [setTo(model, key, "async")],
    });
  },
});
