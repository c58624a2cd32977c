/** Where trainers declare their keys. */
import type { DeclaredSpec, TreeSpec } from "./declared/index.ts";

const swift = (name: string): TreeSpec => ({ classes: [`swift.arguments:${name}`] });
const megatronSwift = (name: string): TreeSpec => ({ classes: [`swift.megatron.arguments:${name}`] });

/** What a policy of NeMo RL generates with: its annotation names the part that all engines share. */
const nemoEngines = [
  "vllm.config:VllmConfig",
  "sglang.config:SGLangConfig",
  "megatron.config:MCoreGenerationConfig",
].map((name) => `nemo_rl.models.generation.${name}`);
const nemo = (module: string, ...policies: string[]): TreeSpec => ({
  classes: [`nemo_rl.algorithms.${module}:MasterConfig`],
  also: Object.fromEntries(policies.map((policy) => [`${policy}.generation`, nemoEngines])),
});

const openInstruct = (program: string, ...classes: string[]): TreeSpec => ({
  classes: classes.map((name) => `open_instruct.${name}`),
  defaults: `open_instruct.${program}`,
});
const openInstructTokenizer = "dataset_transformation:TokenizerConfig";

const roll = (name: string): TreeSpec => ({ classes: [`roll.pipeline.${name}`] });
const prime = (module: string, name: string): TreeSpec => ({
  classes: [`prime_rl.configs.${module}:${name}`],
});
const areal = (name: string): TreeSpec => ({ classes: [`areal.api.cli_args:${name}`] });

const factoryClasses = [
  "ModelArguments",
  "DataArguments",
  "TrainingArguments",
  "FinetuningArguments",
  "GeneratingArguments",
];

const miniSglang = (name: string): TreeSpec => ({
  flags: [`${name}.utils.arguments`, `${name}.backends.sglang_utils.arguments`],
});

export const packages = {
  "ms-swift": {
    trees: {
      rlhf: swift("RLHFArguments"),
      sft: swift("SftArguments"),
      pt: swift("PretrainArguments"),
      rollout: swift("RolloutArguments"),
      "megatron rlhf": megatronSwift("MegatronRLHFArguments"),
      "megatron sft": megatronSwift("MegatronSftArguments"),
      "megatron pt": megatronSwift("MegatronPretrainArguments"),
    },
  },
  slime: { trees: { train: miniSglang("slime") } },
  miles: { trees: { train: miniSglang("miles") } },
  easyr1: { trees: { ppo: { classes: ["verl.trainer.config:PPOConfig"] } } },
  "nemo-rl": {
    trees: {
      grpo: nemo("grpo", "policy"),
      dpo: nemo("dpo", "policy"),
      sft: nemo("sft", "policy"),
      rm: nemo("rm", "policy"),
      ppo: nemo("ppo", "policy"),
      distillation: nemo("distillation", "policy", "teacher"),
    },
  },
  roll: {
    trees: {
      rlvr: roll("rlvr.rlvr_config:RLVRConfig"),
      agentic: roll("agentic.agentic_config:AgenticConfig"),
      dpo: roll("dpo.dpo_config:DPOConfig"),
      sft: roll("sft.sft_config:SFTConfig"),
      distill: roll("distill.distill_config:DistillConfig"),
    },
  },
  "open-instruct": {
    trees: {
      grpo_fast: openInstruct(
        "grpo_fast",
        ...["grpo_utils:GRPOExperimentConfig", openInstructTokenizer, "model_utils:ModelConfig"],
        ...["data_loader:StreamingDataLoaderConfig", "data_loader:VLLMConfig", "grpo_fast:EnvsConfig"],
      ),
      dpo: openInstruct("dpo", "dpo_utils:DPOExperimentConfig", openInstructTokenizer),
      finetune: openInstruct("finetune", "finetune:FlatArguments", openInstructTokenizer),
      reward_modeling: openInstruct(
        "reward_modeling",
        ...["reward_modeling:Args", openInstructTokenizer, "model_utils:ModelConfig"],
      ),
    },
  },
  "prime-rl": {
    folders: ["packages/prime-rl-configs/src", "src"],
    trees: {
      rl: prime("rl", "RLConfig"),
      sft: prime("sft", "SFTConfig"),
      orchestrator: prime("orchestrator", "OrchestratorConfig"),
      trainer: prime("trainer", "TrainerConfig"),
      inference: prime("inference", "InferenceConfig"),
    },
  },
  axolotl: {
    folders: ["src"],
    trees: { train: { classes: ["axolotl.utils.schemas.config:AxolotlInputConfig"] } },
  },
  "llama-factory": {
    folders: ["src"],
    trees: {
      train: {
        classes: [
          ...factoryClasses.map((name) => `llamafactory.hparams:${name}`),
          "llamafactory.hparams.training_args:RayArguments",
        ],
      },
    },
  },
  areal: {
    trees: {
      grpo: areal("GRPOConfig"),
      ppo: areal("PPOConfig"),
      dpo: areal("DPOConfig"),
      sft: areal("SFTConfig"),
      rw: areal("RWConfig"),
    },
  },
  "megatron-lm": { trees: { train: { flags: ["megatron.training.arguments"] } } },
  sglang: {
    trees: {
      server: { flags: ["sglang.srt.server_args"] },
      router: { flags: [["sglang_router.router_args", { prefix: "router-" }]] },
    },
  },
} as const satisfies Readonly<Record<string, DeclaredSpec>>;

export type DeclaredName = keyof typeof packages;
