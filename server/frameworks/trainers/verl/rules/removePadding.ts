import { setTo } from "../fixes.ts";
import { actor, found, policy, shortName, size, verlRule } from "../rule.ts";
import { engineOf } from "../shape.ts";

const [sequence, padding] = [`${actor}.ulysses_sequence_parallel_size`, `${policy}.use_remove_padding`];

export const removePadding = verlRule({
  id: "verl-remove-padding",
  title: "Sequence parallelism with padded batches",
  why: "`FSDPActorConfig.validate` (verl/workers/config/actor.py) refuses `ulysses_sequence_parallel_size` above 1 without `actor_rollout_ref.model.use_remove_padding`: verl splits sequences over GPUs only if they are packed. The flag is on by default since 0.7.",
  check(model) {
    const gpus = size(model, sequence);
    if (engineOf(model)?.kind !== "fsdp" || gpus === undefined || gpus === 1) return [];
    if (model.flag(padding) !== false) return [];
    const message = `\`${shortName(sequence)}\` ${gpus} splits sequences over ${gpus} GPUs, which needs \`${shortName(padding)}\`.`;
    return found(model, [padding, sequence], message, { fixes: [setTo(model, padding, true)] });
  },
});
