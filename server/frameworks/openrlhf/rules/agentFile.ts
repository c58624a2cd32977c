import { missingPython } from "../../missingData.ts";
import { textBeside } from "../files.ts";
import { openrlhfRule } from "../openrlhfRule.ts";

export const agentFile = openrlhfRule({
  id: "openrlhf-agent-file",
  severity: "error",
  title: "An agent that cannot be loaded",
  why: "`train.agent_func_path` is a Python file, and since OpenRLHF 0.9.2 it holds a class `AgentExecutor`: `_load_agent_executor` in openrlhf/trainer/ray/vllm_engine.py asserts it where the engines start. The file is looked at where it lies beside the script; nothing is run.",
  check(flags) {
    const [at, path] = [flags.written("train.agent_func_path"), flags.text("train.agent_func_path")];
    if (at === undefined || path === undefined) return [];
    if (!path.endsWith(".py"))
      return [
        {
          at,
          message: `\`${path}\` is no Python file: OpenRLHF loads an agent from a file that ends in \`.py\`.`,
        },
      ];
    const text = flags.model.since("0.9.2") ? textBeside(flags, path) : undefined;
    if (text === undefined) return missingPython(flags.model, at.key);
    if (/\bAgentExecutor\b/.test(text)) return [];
    return [{ at, message: `\`${path}\` has no class \`AgentExecutor\`, which OpenRLHF looks for.` }];
  },
});

export const rewardFile = openrlhfRule({
  id: "openrlhf-reward-file",
  severity: "error",
  title: "A reward file that cannot be loaded",
  why: "Where `reward.remote_url` ends in `.py`, its function `reward_func(queries, prompts, labels)` pays: `SingleTurnAgentExecutor` in openrlhf/utils/agent.py takes it by that name where the engines start. Only the first of several is read then. The file is looked at where it lies beside the script; nothing is run.",
  check(flags) {
    const [at, url] = [flags.written("reward.remote_url"), flags.text("reward.remote_url")];
    const [path = "", ...others] = url?.split(",") ?? [];
    if (at === undefined || !path.endsWith(".py")) return [];
    const text = textBeside(flags, path);
    const unread =
      others.length === 0
        ? []
        : [
            {
              at,
              severity: "warning" as const,
              message: `Only \`${path}\` is read: the first of several rewards is a Python file.`,
            },
          ];
    if (text === undefined && others.length === 0) return missingPython(flags.model, at.key);
    if (text === undefined || /\breward_func\b/.test(text)) return unread;
    return [
      ...unread,
      { at, message: `\`${path}\` has no function \`reward_func\`, which OpenRLHF looks for.` },
    ];
  },
});
