import { setTo } from "../../fixes.ts";
import { found, rollout, size, verlRule } from "../../rule.ts";

const [context, prompt, response] = [
  `${rollout}.max_model_len`,
  "data.max_prompt_length",
  "data.max_response_length",
];

export const contextLength = verlRule({
  id: "verl-context-length",
  title: "Engine context too short",
  why: "The engine silently cuts a response to what `max_model_len` leaves after the prompt. `generate` of vllm_async_server.py refuses a prompt that leaves less than one token, that of async_sglang_server.py less than two, and the run ends there.",
  severity: "warning",
  check(model) {
    const [room, longest, wanted] = [context, prompt, response].map((key) => size(model, key));
    if (room === undefined || longest === undefined || wanted === undefined || longest + wanted <= room)
      return [];
    // SGLang keeps one more token for itself.
    const own = model.text(`${rollout}.name`) === "sglang" ? 1 : 0;
    const left = room - longest - own;
    const whole = `${longest} + ${wanted} = ${longest + wanted}`;
    const message =
      left <= 0
        ? `\`max_model_len\` ${room} leaves no room after a prompt of ${longest} tokens: generation stops with an error at the first one.`
        : `\`max_model_len\` ${room} is less than \`max_prompt_length\` + \`max_response_length\` = ${whole}: after the longest prompt verl silently cuts a response at ${left} tokens.`;
    const fixes = [setTo(model, context, longest + wanted + own, whole)];
    return found(model, [context, response, prompt], message, {
      severity: left <= 0 ? "error" : "warning",
      fixes,
    });
  },
});
