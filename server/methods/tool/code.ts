import { z } from "zod";
import { objectOf } from "../../../shared/lib/json.ts";
import { param, tool } from "../../core/declaration.ts";
import type { Tool, Tools } from "../../core/slots/tool.ts";
import { openSandbox } from "../../lib/sandbox/openSandbox.ts";
import type { Sandbox, SandboxLanguage, SandboxResult } from "../../lib/sandbox/sandbox.ts";

const params = z.object({
  language: param(z.enum(["python", "javascript"]).default("python"), "Language of the programs."),
  name: param(
    z
      .string()
      .regex(/^[\w-]+$/, { message: "must be a word" })
      .optional(),
    "What the policy calls it; default: the language.",
  ),
  seconds: param(z.number().positive().max(600).default(5), "Seconds that a program may take."),
  memory: param(z.number().int().min(40).max(2048).default(256), "MiB that a program may take."),
  most: param(
    z.number().int().min(80).default(4000),
    "Characters of a result; the middle of a longer one is left out.",
  ),
});
type Params = z.output<typeof params>;

const titles: Readonly<Record<SandboxLanguage, string>> = { python: "Python", javascript: "JavaScript" };

/** Beginning and end: what a program prints first and last says most. */
function cutTo(text: string, most: number): string {
  if (text.length <= most) return text;
  const half = Math.floor((most - 60) / 2);
  return `${text.slice(0, half)}\n… (${text.length - 2 * half} characters are left out) …\n${text.slice(-half)}`;
}

/** What it printed, then what its last expression is worth, then how it ended. */
function resultOf({ stdout, stderr, value, failure }: SandboxResult, most: number): string {
  // Of an exception, what was printed to the errors has the traceback.
  const isThere =
    failure?.kind === "exception" && failure.name !== undefined && stderr.includes(failure.name);
  const parts = [
    stdout,
    stderr,
    value ?? "",
    failure === undefined || isThere ? "" : `Error: the program ${failure.message}`,
  ];
  const text = parts.map((part) => part.replace(/\n$/, "")).filter((part) => part !== "");
  return text.length === 0 ? "(no output)" : cutTo(text.join("\n"), most);
}

function codeTool(sandbox: Sandbox, { language, name, seconds, memory, most }: Params): Tool {
  const title = titles[language];
  return {
    name: name ?? language,
    description: `Runs a ${title} program and returns what it prints${language === "python" ? ", and the value of its last expression" : ""}. Each program starts from nothing; there are no files and no network.`,
    parameters: {
      type: "object",
      properties: { code: { type: "string", description: `The ${title} program.` } },
      required: ["code"],
    },
    async call(args, { signal }) {
      const { code } = objectOf(args);
      if (typeof code !== "string") return "Error: the argument `code` must be a text with the program";
      const program = { language, code, seconds, memory, value: language === "python" };
      return resultOf(await sandbox.run(program, signal), most);
    },
  };
}

export const code = tool({
  name: "code",
  aliases: ["python_interpreter", "code_interpreter"],
  summary:
    "A program that the policy writes, in Python or JavaScript, runs in WebAssembly without files, network or processes; what it prints, the last value or the traceback is the result. Each program begins in the same clean state.",
  formula: "code → stdout, value or traceback",
  sources: ["verl", "TRL"],
  params,
  create: (options, context): Tools => {
    const sandbox = openSandbox(context.sandbox);
    return {
      open: () => Promise.resolve([codeTool(sandbox, options)]),
      close: () => sandbox.close(),
    };
  },
});
