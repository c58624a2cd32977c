/** Where trainers declare their keys. */
import type { BelowSpec, DeclaredSpec, TreeSpec } from "./declared/index.ts";

const map = { type: "dict", open: true } as const;

/** Both trainers give their arguments to Transformers. */
const transformers: BelowSpec = { name: "transformers", tree: "seq2seq" };

/** A file of settings may also set variables of the environment. */
const swiftFile = { ENV: map };
const swift = (name: string, below: readonly BelowSpec[] = [transformers]): TreeSpec => ({
  classes: [`swift.arguments:${name}`],
  below,
  open: ["device_groups"],
  known: swiftFile,
});
/** With Ray, each role may have arguments of its own. */
const megatronSwift = (name: string): TreeSpec => ({
  classes: [`swift.megatron.arguments:${name}`],
  open: ["device_groups"],
  known: {
    ...swiftFile,
    ...{ config: { type: "str" }, colocate_groups: { type: "list" }, nnodes: { type: "int", default: 1 } },
    ...{ train: map, rollout: map, teacher: map },
  },
});

/** What a policy of NeMo RL generates with: its annotation names the part that all engines share. */
const nemoEngines = [
  "vllm.config:VllmConfig",
  "sglang.config:SGLangConfig",
  "megatron.config:MCoreGenerationConfig",
  "trtllm.config:TrtllmConfig",
  "dynamo.config:DynamoConfig",
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

/** Flags that the patch of Megatron-LM adds which slime ships. */
const patched = Object.fromEntries(
  ["use-gated-attention", "post-self-attn-layernorm", "post-mlp-layernorm"].map((name) => [
    name,
    { type: "bool", default: false } as const,
  ]),
);
/** What slime decides itself of SGLang's arguments. */
const ownOfSlime =
  "model-path model config trust-remote-code random-seed enable-memory-saver port nnodes node-rank dist-init-addr"
    .concat(" gpu-id-step base-gpu-id nccl-port skip-server-warmup enable-return-routed-experts")
    .split(" ");
const ranks = ["tp-size", "tensor-parallel-size"];
const sglang = (prefix: string, without: readonly string[]): BelowSpec => ({
  name: "sglang",
  tree: "server",
  prefix: `${prefix}-`,
  without,
});
/** @param servers the engines' arguments */
const slime = (name: string, ...servers: BelowSpec[]): TreeSpec & { flags: readonly string[] } => ({
  below: [{ name: "megatron-lm", tree: "train" }, ...servers, { name: "sglang", tree: "router" }],
  flags: [`${name}.utils.arguments`, `${name}.backends.sglang_utils.arguments`],
  known: patched,
});
const miles = slime(
  "miles",
  sglang("sglang", [...ownOfSlime, "enable-return-indexer-topk"]),
  sglang("eval-sglang", [...ownOfSlime, ...ranks, "enable-return-indexer-topk"]),
);
const milesFlags = [
  "rollout.generate_hub.agentic_tool_call",
  "rollout.generate_hub.multi_turn",
  "dashboard.args",
];

const axolotlPlugins = [
  "cut_cross_entropy.args:CutCrossEntropyArgs",
  "densemixer.args:DenseMixerArgs",
  "diffusion.args:DiffusionArgs",
  "expert_parallel.args:ExpertParallelArgs",
  "grokfast.args:GrokfastArgs",
  "hatchery.args:HatcheryArgs",
  "kd.args:KDArgs",
  "kernels.args:KernelsArgs",
  "liger.args:LigerArgs",
  "llm_compressor.args:LLMCompressorArgs",
  "lm_eval.args:LMEvalArgs",
  "mora.args:MoraArgs",
  "nemo_gym.args:NemoGymArgs",
  "spectrum.args:SpectrumArgs",
  "swanlab.args:SwanLabConfig",
].map((name) => `axolotl.integrations.${name}`);

/** No help is kept where a table of many kilobytes would be twice as long with it. */
export const packages = {
  "ms-swift": {
    help: 0,
    trees: {
      rlhf: swift("RLHFArguments"),
      sft: swift("SftArguments"),
      pt: swift("PretrainArguments"),
      rollout: swift("RolloutArguments", []),
      "megatron rlhf": megatronSwift("MegatronRLHFArguments"),
      "megatron sft": megatronSwift("MegatronSftArguments"),
      "megatron pt": megatronSwift("MegatronPretrainArguments"),
    },
  },
  slime: { trees: { train: slime("slime", sglang("sglang", [...ownOfSlime, ...ranks])) } },
  miles: {
    help: 100,
    trees: {
      train: {
        ...miles,
        flags: [...miles.flags, ...milesFlags.map((name) => `miles.${name}`)],
        flagClasses: ["miles.backends.fsdp_utils.arguments:FSDPArgs"],
      },
    },
  },
  easyr1: { trees: { ppo: { classes: ["verl.trainer.config:PPOConfig"] } } },
  "nemo-rl": {
    help: 0,
    trees: {
      grpo: {
        ...nemo("grpo", "policy"),
        classes: ["grpo", "single_controller_utils.config"].map(
          (module) => `nemo_rl.algorithms.${module}:MasterConfig`,
        ),
      },
      dpo: nemo("dpo", "policy"),
      sft: nemo("sft", "policy"),
      rm: nemo("rm", "policy"),
      ppo: nemo("ppo", "policy"),
      distillation: nemo("distillation", "policy", "teacher"),
      off_policy_distillation: nemo("xtoken_off_policy_distillation", "policy"),
    },
  },
  roll: {
    help: 0,
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
    help: 0,
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
    help: 0,
    folders: ["src"],
    trees: {
      train: {
        // A plugin's keys are the config's, once it is named.
        classes: ["axolotl.utils.schemas.config:AxolotlInputConfig", ...axolotlPlugins],
        spelled: { fsdp_config: "fsdp_" },
      },
    },
  },
  "llama-factory": {
    folders: ["src"],
    trees: {
      train: {
        classes: [
          ...factoryClasses.map((name) => `llamafactory.hparams:${name}`),
          "llamafactory.hparams.training_args:RayArguments",
          "llamafactory.hparams.megatron_bridge_args:MegatronBridgeArguments",
        ],
        below: [transformers],
        known: { kt_config: map },
      },
    },
  },
  areal: {
    help: 0,
    trees: {
      grpo: areal("GRPOConfig"),
      ppo: areal("PPOConfig"),
      dpo: areal("DPOConfig"),
      sft: areal("SFTConfig"),
      rw: areal("RWConfig"),
    },
  },
  "megatron-lm": {
    help: 0,
    trees: { train: { flags: ["megatron.training.arguments"] } },
  },
  sglang: {
    help: 0,
    trees: {
      server: { flags: ["sglang.srt.server_args"] },
      router: { flags: [["sglang_router.router_args", { prefix: "router-" }]] },
    },
  },
} as const satisfies Readonly<Record<string, DeclaredSpec>>;

export type DeclaredName = keyof typeof packages;
