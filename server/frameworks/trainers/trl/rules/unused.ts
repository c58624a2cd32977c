import type { Fix } from "../../../../config/check/diagnostic.ts";
import { equalsOf, type Statement } from "../../../text/python/statements.ts";
import { Lines } from "../../../readers/lines.ts";
import type { RuleDiagnostic } from "../../../rules/rule.ts";
import { trainerOf, type TrainerCall } from "../python.ts";
import { functionsIn, rewardsOf } from "../rewards.ts";
import { Script } from "../script.ts";
import { everyTrainer } from "../../../releases/programs/trl.ts";
import { trlRule } from "../trlRule.ts";

export const unused = trlRule({
  id: "trl-unused",
  trees: everyTrainer,
  title: "Adapter, arguments, data, tokenizer or reward that the run does not use",
  why: "A trainer knows only what it is given. Without `peft_config` it trains all weights, without `args` it takes defaults, without `processing_class` it loads the tokenizer of the model's name, with the chat template of that one (`__init__` in trl/trainer/grpo_trainer.py, dpo_trainer.py and sft_trainer.py). Methods of a data set as `map` and `filter` return a new one and leave the old as it is (datasets/arrow_dataset.py). Gradus reports what a script makes before its trainer and what no other statement reads; to print it is no use of it. It is silent where the trainer's arguments cannot all be seen, where the script reads its names by `globals()` and its like, and where a comment inside the trainer's call names the object: it was taken out on purpose. What is certain to change the run is an error, what may be meant a warning; a reward function that is left over is an info.",
  check(model) {
    const trainer = trainerOf(model);
    if (trainer?.complete !== true) return [];
    const script = new Script(model, trainer);
    if (script.statements.readUnseen) return [];
    return [adapter, wrapped, args, quantized, loaded, template, rows, thrownAway, reward].flatMap((rule) =>
      rule(script),
    );
  },
});

type Check = (script: Script) => RuleDiagnostic[];

const adapts =
  /\b(get_peft_model|Auto[Pp]eft\w*|Peft(Mixed)?Model\w*|\w*(add|load|inject)_adapter\w*)\s*[.(]/;

/** `LoraConfig(…)`. */
function adapter(script: Script): RuleDiagnostic[] {
  const trainsAll = !script.trainer.has("peft_config") && script.isOnlyTrainer && !adapts.test(script.text);
  return script
    .deadOf(/(^|\.)((\w*Lora|LoHa|LoKr|IA3|Vera|\w*OFT|\w*Tuning|Peft)Config|get_peft_config)$/)
    .map((one) => {
      const { text } = one.name;
      const certain = trainsAll && script.calleeOf(one) !== "get_peft_config";
      const message = certain
        ? `This run trains all weights, not the adapter of \`${text}\`: the trainer is not given it. Pass \`peft_config=${text}\`.`
        : `This run does not train the adapter of \`${text}\`: nothing reads it. Give it to the trainer as \`peft_config\`, or remove it.`;
      const fixes = certain ? script.passed("peft_config", one) : [];
      return script.diagnostic("peft_config", one.name, message, severe(certain, fixes));
    });
}

const severe = (certain: boolean, fixes: readonly Fix[] = []): Partial<RuleDiagnostic> => ({
  severity: certain ? "error" : "warning",
  fixes,
});

/** `get_peft_model(…)` changes the model that it is given too, so only a trainer that loads its own lacks the adapter. */
function wrapped(script: Script): RuleDiagnostic[] {
  const { trainer } = script;
  const own = trainer.value("model");
  if (typeof own !== "string" || trainer.has("peft_config")) return [];
  return script.deadOf(/(^|\.)(get_peft_model|\w*PeftModel\w*\.from_pretrained)$/).map(({ name }) => {
    const message = `This run trains all weights of ${own}, not the adapter of \`${name.text}\`: the trainer loads the model itself. Pass \`model=${name.text}\`.`;
    return script.diagnostic("model", name, message, { related: [trainer.setting("model")] });
  });
}

function args(script: Script): RuleDiagnostic[] {
  const none = !script.trainer.has("args") && script.isOnlyTrainer;
  return script
    .deadOf(/(^|\.)((GRPO|RLOO|DPO|SFT|KTO|Reward|Distillation)Config|TrainingArguments)$/)
    .map((one) => {
      const { text } = one.name;
      const message = none
        ? `This run trains with TRL's defaults, not with \`${text}\`: the trainer is not given it. Pass \`args=${text}\`.`
        : `This run does not train with \`${text}\`: nothing reads it. Give it to the trainer as \`args\`, or remove it.`;
      return script.diagnostic(
        "args",
        one.name,
        message,
        severe(none, none ? script.passed("args", one) : []),
      );
    });
}

const quantized: Check = (script) =>
  script.deadOf(/(^|\.)(BitsAndBytesConfig|get_quantization_config)$/).map(({ name }) => {
    const message = `This run does not quantize with \`${name.text}\`: nothing reads it. Give it to the model as \`quantization_config\`, or remove it.`;
    return script.diagnostic("quantization_config", name, message, severe(false));
  });

/** A peft model is `wrapped`'s. */
const loaded: Check = (script) =>
  script.deadOf(/(^|\.)(?!\w*Peft)\w*(Model|For[A-Z])\w*\.from_pretrained$/).map(({ name }) => {
    const message = `This run does not use the model \`${name.text}\`: nothing reads it. Give it to the trainer, or remove it.`;
    return script.diagnostic("model", name, message, severe(false));
  });

const isOwnToken = /\.(pad_token|eos_token)\s*=\s*[\w.]+\.eos_token$/;

/** `tokenizer.chat_template = …` */
function template(script: Script): RuleDiagnostic[] {
  const { trainer, statements, text } = script;
  if (trainer.has("processing_class") || trainer.has("tokenizer") || !script.isOnlyTrainer) return [];
  const changed = statements.all.filter(
    (one) => isTokenizers(one) && !isOwnToken.test(sourceOf(one, text)) && isBefore(one, trainer),
  );
  return changed.flatMap((one) => {
    const [name, , key] = one.tokens;
    if (name === undefined || key === undefined || !script.isDead(name.text)) return [];
    const message = `This run does not use the \`${key.text}\` of \`${name.text}\`: TRL loads a tokenizer of its own from the model's name. Pass \`processing_class=${name.text}\`.`;
    const made = script.made.findLast((other) => other.name.text === name.text);
    const fixes = made === undefined ? [] : script.passed("processing_class", made);
    const span = { start: name.start, end: key.end, text: name.text };
    return [
      script.diagnostic("processing_class", span, message, severe(key.text === "chat_template", fixes)),
    ];
  });
}

const isTokenizers = (one: Statement): boolean =>
  /^(chat_template|pad_token|eos_token)$/.test(one.tokens[2]?.text ?? "") && equalsOf(one) === 3;
const isBefore = ({ tokens }: Statement, { call }: TrainerCall): boolean =>
  (tokens[0]?.start ?? 0) < call.start;
const sourceOf = ({ tokens }: Statement, text: string): string =>
  text.slice(tokens[0]?.start ?? 0, tokens.at(-1)?.end ?? 0);

/** `data["train"].map` */
const method = /^(\w+)((?:\[[^[\]]*\])?)\.(\w+)\s*\(/;
/** Methods of a data set that return another one: the first change rows or columns, the others choose among rows or order them. */
const changing = /^(map|filter|(rename|remove|select)_columns?|add_column|cast(_column)?)$/;
const choosing = /^(select|take|skip|shard|shuffle|sort|repeat|train_test_split)$/;
const heldOut = /eval|valid|val|test|dev|held/i;

/** The names that the trainer's data comes from. */
function sources(script: Script, argument: string): Set<string> {
  const names = new Set(/^\w+/.exec(script.given(argument) ?? "") ?? []);
  for (const name of names)
    for (const { name: made, value } of script.made)
      if (made.text === name) {
        const from = /^\w+/.exec(script.text.slice(value.start, value.end))?.[0];
        if (from !== undefined) names.add(from);
      }
  return names;
}

/** `filtered = data.filter(…)`, and the trainer gets `data`. */
function rows(script: Script): RuleDiagnostic[] {
  const given = script.given("train_dataset");
  if (given === undefined) return [];
  const known = sources(script, "train_dataset");
  const found = [...new Map(script.dead.map((one) => [one.name.text, one])).values()];
  return found.flatMap((one) => {
    const { name, value } = one;
    const [, from = "", , by = ""] = method.exec(script.text.slice(value.start, value.end)) ?? [];
    const derived = known.has(from) && (changing.test(by) || choosing.test(by));
    const isLoaded = /(^|\.)(load_dataset|load_from_disk|Dataset\.from_\w+)$/.test(
      script.calleeOf(one) ?? "",
    );
    // Data that is loaded and printed was to be looked at.
    const isLookedAt = !derived && script.statements.isPrinted(name.text);
    if (heldOut.test(name.text) || isLookedAt || (!derived && !isLoaded)) return [];
    const message = `This run trains on \`${firstLine(given)}\`, not on \`${name.text}\`: nothing reads that. Pass \`train_dataset=${name.text}\`, or remove it.`;
    const related = [script.trainer.setting("train_dataset")];
    const severity = derived && changing.test(by) ? "error" : "warning";
    return [script.diagnostic("train_dataset", name, message, { severity, related })];
  });
}

const firstLine = (text: string): string => (text.includes("\n") ? `${text.split("\n")[0] ?? ""}…` : text);

/** `data.map(…)` as a statement. */
function thrownAway(script: Script): RuleDiagnostic[] {
  const { statements, trainer, text } = script;
  const [train, evaluation] = ["train_dataset", "eval_dataset"].map((key) => sources(script, key));
  return statements.all.flatMap((one) => {
    const [first] = one.tokens;
    const [, name = "", part = "", by = ""] = method.exec(sourceOf(one, text)) ?? [];
    const isData = train?.has(name) === true || evaluation?.has(name) === true;
    if (first === undefined || !isData || !isBefore(one, trainer) || !returnsData(one)) return [];
    const what = `${name}${part}`;
    const message = `This run uses the rows of \`${what}\` without this \`${by}\`: the method returns a new data set and leaves the old as it is. Write \`${what} = ${what}.${by}(…)\`.`;
    const range = new Lines(text).range({ start: first.start, end: first.start });
    const fix: Fix = {
      title: `Assign it to \`${what}\``,
      edits: [{ range, newText: `${what} = ` }],
      preferred: true,
    };
    const span = { start: first.start, end: first.end, text: name };
    return [
      script.diagnostic("train_dataset", span, message, {
        severity: changing.test(by) ? "error" : "warning",
        fixes: by === "train_test_split" ? [] : [fix],
      }),
    ];
  });
}

/** Whether the statement is nothing but calls of such methods; `.map(…).to_json(…)` writes a file. */
function returnsData({ tokens }: Statement): boolean {
  let depth = 0;
  const methods = tokens.filter(({ kind, text }, i) => {
    if (kind === "operator" && "([{".includes(text)) depth += 1;
    if (kind === "operator" && ")]}".includes(text)) depth -= 1;
    return depth === 0 && kind === "name" && tokens[i - 1]?.text === ".";
  });
  const onlyCalls = tokens.at(-1)?.text === ")" && !tokens.some(({ text }, i) => i === 1 && text === "=");
  return onlyCalls && methods.every(({ text }) => changing.test(text) || choosing.test(text));
}

/** `def length_reward(completions, **kwargs)` that is in no `reward_funcs`. */
function reward(script: Script): RuleDiagnostic[] {
  const { model, trainer, statements } = script;
  const listed = rewardsOf(model)?.rewards;
  const functions = functionsIn(model);
  if (listed?.some(({ name }) => functions.has(name ?? "")) !== true || trainer.has("rollout_func"))
    return [];
  return [...functions.values()]
    .filter(({ required, takesAny }) => required.includes("completions") && takesAny)
    .filter(({ name }) => !statements.reads(name))
    .map(({ name, nameStart }) => {
      const span = { start: nameStart, end: nameStart + name.length, text: name };
      const message = `This run does not score with \`${name}\`: it is not in \`reward_funcs\`, and nothing calls it. Add it, or remove it.`;
      return script.diagnostic("reward_funcs", span, message, { severity: "info" });
    });
}
