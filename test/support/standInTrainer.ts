/**
 * A program of ours in the place of a site's Python: it trains nothing, and writes as `gradus_hook.py` does what a project of TRL
 * would, as far as the file `pace` lets it.
 */
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Trains 6 steps; it saves after each, and looks for `out/stop`. */
const trainer = `import os, sys, time
sys.path.insert(0, "."); sys.dont_write_bytecode = True
from gradus_hook import log_rollouts, trl_callback
class State: global_step = 0; is_world_process_zero = True
class Arguments:
    num_generations = 2
    def to_dict(self): return {"max_steps": 6}
saved = os.path.join("out", "checkpoints", "step")
os.makedirs(os.path.dirname(saved), exist_ok=True)
if "--resume" in sys.argv and os.path.exists(saved): State.global_step = int(open(saved).read())
callback = trl_callback(); callback.on_train_begin(Arguments(), State, None)
@log_rollouts
def right(completions, **kw): return [1.0, 0.0]
while State.global_step < 6:
    pace = open(PACE).read().split() or ["0"]  # it is being written
    if "fail" in pace: raise RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB")
    if os.path.exists("out/stop"): break
    if State.global_step >= int(pace[0]): time.sleep(0.02); continue
    right(prompts=["a", "a"], completions=["x", "y"], trainer_state=State)
    State.global_step += 1
    callback.on_log(Arguments(), State, None, logs={"reward": 0.5, "step_time": 0.1, "completions/mean_length": 4.0})
    open(saved, "w").write(str(State.global_step))
callback.on_train_end(Arguments(), State, None)
`;

/** A config that TRL trains on a site. */
export const farConfig = `extends: grpo
name: far
engine: { use: trl }
model: { base: tiny, width: 16, layers: 1, heads: 2, hidden: 32, context: 64 }
tasks: [{ env: countdown, numbers: [2] }]
rollout: { prompts: 1, group: 2, max_tokens: 8 }
reward: { terms: { right: { use: equation } } }
steps: 6
`;

/** @returns the program, which reads `<folder>/pace` */
export function standInTrainer(folder: string): string {
  const python = join(folder, "python");
  writeFileSync(join(folder, "trainer.py"), trainer.replace("PACE", JSON.stringify(join(folder, "pace"))));
  writeFileSync(python, `#!/bin/sh\nshift\nexec python3 '${join(folder, "trainer.py")}' "$@"\n`);
  chmodSync(python, 0o755);
  return python;
}
