/** The shell command of a turn. */
import { fences } from "../../../lib/texts/fences.ts";
import { isObject } from "../../../../shared/lib/json.ts";

export type Turn =
  | { readonly kind: "command"; readonly command: string; readonly role: "tool" | "user" }
  /** Something that is meant as a command and is none. */
  | { readonly kind: "malformed"; readonly why: string }
  /** It runs nothing: the policy is done. */
  | { readonly kind: "done" };

const shells = ["", "bash", "sh", "shell", "console"];
const called = /<tool_call>([\s\S]*?)(?:<\/tool_call>|$)/;

/** What stands after the thoughts: a call of the tool `bash`, else the last fenced block. */
export function turnOf(text: string): Turn {
  const said = text.split("</think>").at(-1)!;
  const call = called.exec(said)?.[1];
  if (call !== undefined) return ofCall(call);
  const block = fences(said, (named) => shells.includes(named)).findLast(({ body }) => body.trim() !== "");
  return block === undefined
    ? { kind: "done" }
    : { kind: "command", command: block.body.trim(), role: "user" };
}

function ofCall(text: string): Turn {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return { kind: "malformed", why: `the call is no JSON: ${error.message}` };
  }
  const args = isObject(value) && value["name"] === "bash" ? value["arguments"] : undefined;
  const command = isObject(args) ? args["command"] : undefined;
  if (typeof command !== "string")
    return { kind: "malformed", why: 'a call is {"name": "bash", "arguments": {"command": TEXT}}' };
  return { kind: "command", command, role: "tool" };
}
