/** prime-rl's defaults, by dotted key: of the release whose settings are read and written. */
import type { JsonObject } from "../../../../../shared/lib/json.ts";

export const primeRlRelease = "prime-rl 0.8.0";

export const primeRlDefaults: JsonObject = {
  "model.name": "Qwen/Qwen3-0.6B",
  "deployment.num_train_gpus": 1,
  "deployment.num_infer_gpus": 1,
  "orchestrator.algo.type": "grpo",
  "orchestrator.batch_size": 128,
  "orchestrator.group_size": 1,
  "orchestrator.max_off_policy_steps": 8,
  "orchestrator.train.filter_zero_advantages": true,
  "orchestrator.train.sampling.temperature": 1,
  "orchestrator.eval.interval": 100,
  "trainer.loss.type": "default",
  "trainer.loss.dppo_mask_low": 0.2,
  "trainer.loss.dppo_mask_high": 0.2,
  "trainer.loss.adv_tau": 1,
  "trainer.loss.kl_tau": 1e-3,
  "trainer.optim.type": "adamw",
  "trainer.optim.lr": 1e-6,
  "trainer.optim.weight_decay": 0.01,
  "trainer.optim.max_norm": 1,
  "trainer.optim.betas1": 0.9,
  "trainer.optim.betas2": 0.999,
  "trainer.optim.momentum": 0.9,
  "trainer.optim.nesterov": true,
  "trainer.scheduler.type": "constant",
  "trainer.scheduler.warmup_steps": 10,
  "trainer.scheduler.decay_steps": 10,
  "trainer.scheduler.min_lr": 0,
  "trainer.model.lora.rank": 16,
  "trainer.model.lora.alpha": 32,
  "trainer.model.lora.dropout": 0,
};
