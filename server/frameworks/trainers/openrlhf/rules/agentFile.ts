import { pythonProblem } from "../../../../lib/python/syntax.ts";
import { missingPython, unparsed } from "../../../rules/missingData.ts";
import { siblingText } from "../files.ts";
import { openrlhfRule } from "../openrlhfRule.ts";

export const agentFile = openrlhfRule({
  id: "openrlhf-agent-file",
  title: "Agent cannot be loaded",
  why: "`train.agent_func_path` is a Python file, and since OpenRLHF 0.9.2 it holds a class `AgentExecutor`: `_load_agent_executor` in openrlhf/trainer/ray/vllm_engine.py asserts it when the engines start. Gradus reads the file if it is next to the script, and runs nothing.",
  check(flags) {
    const [at, path] = [flags.written("train.agent_func_path"), flags.text("train.agent_func_path")];
    if (at === undefined || path === undefined) return [];
    if (!path.endsWith(".py")) {
      const message = `\`${path}\` is not a Python file: OpenRLHF loads an agent from a file that ends in \`.py\`.`;
      return [{ at, message }];
    }
    const text = flags.model.since("0.9.2") ? siblingText(flags, path) : undefined;
    if (text === undefined) return missingPython(flags.model, at.key);
    if (/\bAgentExecutor\b/.test(text)) return [];
    return [{ at, message: `\`${path}\` has no class \`AgentExecutor\`, which OpenRLHF looks for.` }];
  },
});

export const rewardFile = openrlhfRule({
  id: "openrlhf-reward-file",
  title: "Reward file cannot be loaded",
  why: "Where `reward.remote_url` ends in `.py`, its function `reward_func(queries, prompts, labels)` computes the reward: `SingleTurnAgentExecutor` in openrlhf/utils/agent.py loads it by that name when the engines start. OpenRLHF then reads only the first of several rewards. Gradus reads the file if it is next to the script, and runs nothing.",
  check(flags) {
    const [at, url] = [flags.written("reward.remote_url"), flags.text("reward.remote_url")];
    const [path = "", ...others] = url?.split(",") ?? [];
    if (at === undefined || !path.endsWith(".py")) return [];
    const text = siblingText(flags, path);
    const unread =
      others.length === 0
        ? []
        : [
            {
              at,
              severity: "warning" as const,
              message: `OpenRLHF reads only \`${path}\`: where the first of several rewards is a Python file, it ignores the others.`,
            },
          ];
    if (text === undefined && others.length === 0) return missingPython(flags.model, at.key);
    const problem = text === undefined ? undefined : pythonProblem(text);
    if (problem !== undefined)
      return [
        ...unread,
        { at, message: `${unparsed(path, problem)}: OpenRLHF stops when it loads the reward.` },
      ];
    if (text === undefined || /\breward_func\b/.test(text)) return unread;
    return [
      ...unread,
      { at, message: `\`${path}\` has no function \`reward_func\`, which OpenRLHF looks for.` },
    ];
  },
});
