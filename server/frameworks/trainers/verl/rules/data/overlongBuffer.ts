import { setTo } from "../../fixes.ts";
import { found, size, verlRule } from "../../rule.ts";
import { managerKey } from "../../reward.ts";
import type { RuleModel } from "../../../../rules/rule.ts";

/** The section of the manager's own arguments. */
const section = (model: RuleModel): string =>
  model.since("0.9.0") || model.written("reward.reward_kwargs.overlong_buffer_cfg.len") !== undefined
    ? "reward.reward_kwargs"
    : "reward_model.reward_kwargs";

export const overlongBuffer = verlRule({
  id: "verl-overlong-buffer",
  title: "Invalid overlong penalty",
  why: "`DAPORewardManager.__init__` (verl/experimental/reward_loop/reward_manager/dapo.py; verl/workers/reward_manager/dapo.py) penalises the last `overlong_buffer_cfg.len` tokens of `max_resp_len`: it asserts that both are set, and that the first is above 0 and at most the second.",
  check(model) {
    const own = section(model);
    const [enable, length, longest] = [
      `${own}.overlong_buffer_cfg.enable`,
      `${own}.overlong_buffer_cfg.len`,
      `${own}.max_resp_len`,
    ];
    if (model.text(managerKey(model)) !== "dapo" || model.flag(enable) !== true) return [];
    const [buffer, most] = [model.number(length), size(model, longest)];
    const response = size(model, "data.max_response_length");
    if (most === undefined && model.written(longest) === undefined && !model.document.incomplete) {
      const message = `\`overlong_buffer_cfg\` penalises the end of \`max_resp_len\` tokens, but \`${longest}\` is not set.`;
      return found(model, [enable, length], message, {
        fixes: response === undefined ? [] : [setTo(model, `+${longest}`, response)],
      });
    }
    if (buffer === undefined || (buffer > 0 && (most === undefined || most >= buffer))) return [];
    const message =
      buffer <= 0
        ? `\`overlong_buffer_cfg.len\` ${buffer} leaves no buffer, which verl refuses: to switch the penalty off, set \`enable\` to false.`
        : `\`overlong_buffer_cfg.len\` ${buffer} is more than \`max_resp_len\` ${most}, but the buffer is the end of that length.`;
    return found(model, [length, longest, enable], message, {
      fixes:
        buffer <= 0
          ? [setTo(model, enable, false)]
          : most === undefined
            ? []
            : [setTo(model, length, Math.floor(most / 4))],
    });
  },
});
