import { found, rollout, size, verlRule } from "../rule.ts";

const section = `${rollout}.multi_turn`;
const [enable, tool, turns, calls, response] = [
  `${section}.enable`,
  `${section}.max_tool_response_length`,
  `${section}.max_assistant_turns`,
  `${section}.max_parallel_calls`,
  "data.max_response_length",
];
/** Letters of a token of English text, about. */
const lettersPerToken = 4;

export const multiTurn = verlRule({
  id: "verl-multi-turn",
  title: "Tool responses can fill the whole response",
  why: "In a conversation `response_length` bounds all turns together, including the tools' responses: `ToolAgentLoop` (verl/experimental/agent_loop/tool_agent_loop.py) stops when they reach it. `max_tool_response_length` counts characters, the response length counts tokens.",
  severity: "warning",
  since: "0.7.0",
  check(model) {
    const [letters, room] = [size(model, tool), size(model, response)];
    if (model.flag(enable) !== true || letters === undefined || room === undefined) return [];
    // The last turn calls no tool.
    const responses = Math.max(1, (size(model, turns) ?? 2) - 1) * (size(model, calls) ?? 1);
    const tokens = Math.round((responses * letters) / lettersPerToken);
    if (tokens < room) return [];
    const message = `All turns share \`max_response_length\` ${room} tokens, but ${responses} tool ${responses === 1 ? "response" : "responses"} of \`max_tool_response_length\` ${letters} characters can take about ${tokens} (four characters per token), which leaves none for the model's own turns.`;
    return found(model, [tool, response, turns, calls], message);
  },
});
