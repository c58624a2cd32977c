import { setTo } from "../fixes.ts";
import { found, rollout, verlRule } from "../rule.ts";

const [sampled, temperature] = [`${rollout}.val_kwargs.do_sample`, `${rollout}.temperature`];

export const validationTemperature = verlRule({
  id: "verl-validation-temperature",
  title: "Sampling validation at temperature 0",
  why: "`validate_config` (verl/utils/config.py) asserts that `rollout.temperature` is above 0 if `val_kwargs.do_sample` is on. It checks the training temperature, although validation uses `val_kwargs.temperature`.",
  check(model) {
    const value = model.number(temperature);
    if (model.flag(sampled) !== true || value === undefined || value > 0) return [];
    const message = `\`rollout.temperature\` ${value} with \`val_kwargs.do_sample\`: verl refuses to sample at that temperature.`;
    return found(model, [temperature, sampled], message, { fixes: [setTo(model, temperature, "1.0")] });
  },
});
