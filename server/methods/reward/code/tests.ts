/** The tests of a task, in the forms that data sets of programs have. */
import { z } from "zod";
import type { Json, JsonObject } from "../../../../shared/lib/json.ts";
import type { Task } from "../../../core/task.ts";

export type UnitTest =
  /** What is read, and what is to be printed. */
  | { readonly kind: "printed"; readonly stdin: string; readonly expected: string }
  /** A call, and what it is to return. */
  | {
      readonly kind: "returned";
      readonly name: string;
      readonly args: readonly Json[];
      readonly expected: Json;
    }
  /** Code that fails where the program is wrong. */
  | { readonly kind: "asserted"; readonly code: string };

const json: z.ZodType<Json> = z.json();
const pairs = z.looseObject({
  inputs: z.array(json),
  outputs: z.array(json),
  fn_name: z.string().nullish(),
});
const listed = z.array(
  z.looseObject({
    input: json,
    output: json,
    testtype: z.string().optional(),
    fn_name: z.string().nullish(),
  }),
);
const asserts = z.union([z.array(z.string()), z.string()]);
const withAsserts = z.looseObject({ assert_case: z.array(z.string()) });

const fromJson = (value: unknown): unknown => {
  if (typeof value !== "string" || !/^\s*[[{]/.test(value)) return value;
  try {
    return JSON.parse(value);
  } catch (error) {
    if (error instanceof SyntaxError) return value;
    throw error;
  }
};

/** Lines of one text or a list of lines. */
const text = (value: Json): string =>
  Array.isArray(value)
    ? value.map(text).join("\n")
    : typeof value === "string"
      ? value
      : JSON.stringify(value);

/** Of a call: a list of arguments; a text has one JSON value a line. */
function argsOf(value: Json): readonly Json[] {
  if (Array.isArray(value)) return value;
  if (typeof value !== "string") return [value];
  const lines = value.split("\n").filter((line) => line.trim() !== "");
  return lines.map((line) => json.catch(line).parse(fromJsonLine(line)));
}
function fromJsonLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch (error) {
    if (error instanceof SyntaxError) return line;
    throw error;
  }
}

const call = (name: string, input: Json, output: Json): UnitTest => ({
  kind: "returned",
  name,
  args: argsOf(input),
  expected: typeof output === "string" ? json.catch(output).parse(fromJsonLine(output)) : output,
});
const read = (input: Json, output: Json): UnitTest => ({
  kind: "printed",
  stdin: text(input),
  expected: text(output),
});

/**
 * @param field of the task's data; without it, the task's answer
 * @returns why there are none, where there are none
 */
export function testsOf(
  task: Pick<Task, "id" | "data" | "answer">,
  field: string,
): readonly UnitTest[] | string {
  const value = fromJson(task.data[field] ?? task.answer);
  const where = `task ${task.id}: \`${field}\``;
  if (value === undefined)
    return `${where} is not there: set \`field\` of unit_tests to the field that has the tests`;
  const found = parsed(value, task.data);
  if (found === undefined)
    return `${where} is neither { inputs, outputs }, nor a list of { input, output }, nor assert lines`;
  return found.length === 0 ? `${where} has no test` : found;
}

const functionName = (data: JsonObject): string | undefined =>
  [data["fn_name"], data["func_name"], data["entry_point"]].find((one) => typeof one === "string");

function parsed(value: unknown, data: JsonObject): readonly UnitTest[] | undefined {
  const asPairs = pairs.safeParse(value);
  if (asPairs.success) {
    const { inputs, outputs, fn_name } = asPairs.data;
    const name = fn_name ?? functionName(data);
    return inputs
      .slice(0, outputs.length)
      .map((input, k) => (name === undefined ? read(input, outputs[k]!) : call(name, input, outputs[k]!)));
  }
  const asList = listed.safeParse(value);
  if (asList.success)
    return asList.data.map(({ input, output, testtype, fn_name }) => {
      const name = fn_name ?? functionName(data);
      return testtype !== "stdin" && name !== undefined ? call(name, input, output) : read(input, output);
    });
  const given = withAsserts.safeParse(value);
  const lines = asserts.safeParse(given.success ? given.data.assert_case : value);
  if (!lines.success) return undefined;
  const list = typeof lines.data === "string" ? [lines.data] : lines.data;
  return list
    .filter((code) => code.trim() !== "")
    .map((code) => ({ kind: "asserted", code: checked(code, data) }));
}

/** HumanEval's tests are a function `check` of the program's function. */
function checked(code: string, data: JsonObject): string {
  const name = functionName(data);
  const isCheck = /^\s*def check\(/m.test(code) && name !== undefined && !/^check\(/m.test(code);
  return isCheck ? `${code}\n\ncheck(${name})` : code;
}
