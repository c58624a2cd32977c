import { listed } from "../../../../lib/suggest.ts";
import { setTo } from "../fixes.ts";
import { isV1 } from "../shape.ts";
import { actor, found, policy, rollout, shortName, verlRule } from "../rule.ts";
import type { RuleDiagnostic, RuleModel } from "../../../rules/rule.ts";

const [replayed, bypass] = [
  `${rollout}.enable_rollout_routing_replay`,
  "algorithm.rollout_correction.bypass_mode",
];
const modes = ["disabled", "R2", "R3"];

/** Where the mode is set: of the actor, later of its engine. */
const modeKeys = ["router_replay.mode", "megatron.router_replay.mode", "veomni.router_replay.mode"].map(
  (name) => `${actor}.${name}`,
);

function ofMode(model: RuleModel, key: string): RuleDiagnostic[] {
  const mode = model.text(key);
  if (mode === undefined || model.written(key) === undefined || mode === "disabled") return [];
  if (!modes.includes(mode))
    return found(model, [key], `\`router_replay.mode\` must be ${listed(modes)}, not \`${mode}\`.`);
  if (mode === "R2" && model.flag(replayed) === true) {
    const message =
      "`R2` replays the routes of the training engine, but `rollout.enable_rollout_routing_replay` records those of the inference engine, for `R3`.";
    return found(model, [key, replayed], message, {
      severity: isV1(model) ? "warning" : "error",
      fixes: [setTo(model, key, "R3"), setTo(model, replayed, false)],
    });
  }
  if (mode === "R2" && model.since("0.9.1") && model.flag(bypass) === true) {
    const message =
      "`R2` records routes while verl computes old log-probabilities, which `bypass_mode` skips.";
    return found(model, [key, bypass], message, {
      fixes: [setTo(model, key, "R3"), setTo(model, bypass, false)],
    });
  }
  if (mode !== "R3" || model.flag(replayed) !== false) return [];
  const message =
    "`R3` replays the routes of generation, but `rollout.enable_rollout_routing_replay`, which records them, is off.";
  return found(model, [key, replayed], message, { fixes: [setTo(model, replayed, true)] });
}

function padded(model: RuleModel): RuleDiagnostic[] {
  const [key, padding] = [`${actor}.veomni.router_replay.mode`, `${policy}.use_remove_padding`];
  const mode = model.text(key);
  if (mode === undefined || mode === "disabled" || model.flag(padding) !== false) return [];
  const message = `VeOmni replays routes in packed batches only: switch on \`${shortName(padding)}\`.`;
  return found(model, [key, padding], message, { fixes: [setTo(model, padding, true)] });
}

export const routerReplay = verlRule({
  id: "verl-router-replay",
  title: "Contradictory router replay",
  why: "`R2` replays the experts that the training engine chose while it computed old log-probabilities, `R3` those that the inference engine chose. `fit` (verl/trainer/ppo/ray_trainer.py) refuses `R2` with `enable_rollout_routing_replay` (the newer trainer uses whichever routes come last), `_validate_router_replay_config` (verl/utils/config.py) refuses it with `bypass_mode`, `VeOmniActorConfig` (verl/workers/config/actor.py) refuses replay without `use_remove_padding`; Megatron's engine stops if `R3` gets no routes. vLLM must be 0.22 or newer.",
  since: "0.7.0",
  check: (model) => [...modeKeys.flatMap((key) => ofMode(model, key)), ...padded(model)],
});
