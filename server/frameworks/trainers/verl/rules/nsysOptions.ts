import { found, verlRule } from "../rule.ts";

const [tool, steps, options] = [
  "global_profiler.tool",
  "global_profiler.steps",
  "global_profiler.global_tool_config.nsys.worker_nsight_options",
];

export const nsysOptions = verlRule({
  id: "verl-nsys-options",
  title: "Nsight Systems without worker options",
  why: "`_setup` (verl/trainer/ppo/v1/trainer_base.py; `init_workers` of ray_trainer.py) asserts `worker_nsight_options` if `global_profiler.tool` is `nsys` and steps are set. verl's tree has these options; an override can remove them.",
  since: "0.6.0",
  check(model) {
    const named = model.value(steps);
    if (model.text(tool) !== "nsys" || !Array.isArray(named)) return [];
    const gone = model.document.settings.find(
      ({ key, sign, value }) => key === options && (sign === "~" || value === null),
    );
    if (gone === undefined) return [];
    const message =
      "`nsys` profiles the workers with `worker_nsight_options`, but this override removes them: verl refuses it.";
    return gone.sign === "~" ? [{ message, at: gone }] : found(model, [options, tool], message);
  },
});
