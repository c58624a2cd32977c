/** Teacher contexts: what the models of KL entries read in addition to the prompts, once rollouts are scored. */
import { outcome } from "../../../algorithm/rewards/rewards.ts";
import { raggedOf, rowsOfGroups, trainedContext } from "../../../core/rows/batch.ts";
import { fill, textField } from "../../../core/templates.ts";
import { teacherContextNames, type TeacherContext } from "../../../core/blocks/teacherContext.ts";
import { randomStream } from "../../../lib/random.ts";
import type { Batch } from "../../../core/rollouts.ts";
import type { Selected, StepContext } from "../context.ts";
import { asked } from "../generate/prompts.ts";

/** The text for each row; undefined: there is none. */
type Texts = readonly (string | undefined)[];

/** The nth of the group's rollouts with that outcome, not the row itself, in an order drawn for the row. */
function siblings(
  { session, step }: StepContext,
  { batch, scored }: Selected,
  { what, nth }: TeacherContext,
): Texts {
  const { seed } = session.config;
  const wanted = what === "sibling" ? outcome.right : outcome.wrong;
  const texts: (string | undefined)[] = [];
  for (const rows of rowsOfGroups(batch)) {
    const such = rows.filter((row) => scored.success[row] === wanted);
    for (const row of rows) {
      const others = such.filter((other) => other !== row);
      if (others.length < nth) continue;
      const { group, index } = batch.records[row]!;
      const random =
        what === "sibling"
          ? randomStream(seed, "shown", step, group, index)
          : randomStream(seed, "shown-wrong", step, group, index);
      // Entries draw from the same stream: those before this one in the order are the ones that they show.
      for (let before = 1; before < nth; before++) others.splice(random.integer(others.length), 1);
      texts[row] = batch.records[others[random.integer(others.length)]!]!.response;
    }
  }
  return texts;
}

function textsOf(
  { records }: Batch,
  entry: TeacherContext,
  ofSiblings: (entry: TeacherContext) => Texts,
): Texts {
  const { what, field } = entry;
  if (what === "sibling" || what === "wrong_sibling") return ofSiblings(entry);
  return records.map(({ task }) => {
    if (what === "field") return textField(task, field);
    return what === "solution" ? task.solution : task.answer;
  });
}

/** The contexts of one entry's model; a row for which there is nothing, or whose context it would fill, has its own. */
function contextsOf(
  { session: { policy }, stage }: StepContext,
  batch: Batch,
  texts: Texts,
  template: string,
): { readonly contexts: readonly Int32Array[]; readonly added: Texts } {
  const own = trainedContext(batch);
  const added: (string | undefined)[] = [];
  const contexts = batch.records.map(({ task }, row) => {
    const help = texts[row];
    const bare = own.values.subarray(own.offsets[row], own.offsets[row + 1]);
    if (help === undefined) return bare;
    const prompt = fill(template, { prompt: task.prompt, help });
    const { tokens } = asked(policy.tokenizer, { ...task, prompt }, stage.config.body.rollout);
    if (tokens.length + batch.offsets[row + 1]! - batch.offsets[row]! > policy.context) return bare;
    added[row] = help;
    return tokens;
  });
  return { contexts, added };
}

/** A batch with the contexts in which models of KL entries read it. @param texts of an entry, by what it is called */
function withContexts(
  context: StepContext,
  batch: Batch,
  texts: (entry: TeacherContext, name: string) => Texts,
): Batch {
  const { kl } = context.stage.config.body;
  const names = teacherContextNames(kl);
  const found = new Map<string, ReturnType<typeof contextsOf>>();
  kl.forEach(({ shown }, at) => {
    const name = names[at];
    if (name === undefined || shown === undefined || found.has(name)) return;
    found.set(name, contextsOf(context, batch, texts(shown, name), shown.template));
  });
  if (found.size === 0) return batch;
  const all = [...found];
  const records = batch.records.map(({ shown: _, ...record }, row) => {
    const own = all.flatMap(([name, { added }]) => (added[row] === undefined ? [] : [[name, added[row]]]));
    return own.length === 0 ? record : { ...record, shown: Object.fromEntries(own) };
  });
  const contexts = Object.fromEntries(all.map(([name, one]) => [name, raggedOf(one.contexts)]));
  return { ...batch, records, contexts };
}

/** The step's rollouts with the contexts in which models of KL entries read them. */
export const withTeacherContext = (context: StepContext, selected: Selected): Selected => ({
  ...selected,
  batch: withContexts(context, selected.batch, (entry) =>
    textsOf(selected.batch, entry, (which) => siblings(context, selected, which)),
  ),
});

/**
 * Rollouts of earlier steps with the teacher contexts they had then: their siblings may not be here. What their task itself
 * knows can be shown for rollouts of a file, too.
 */
export const withTeacherContextAgain = (context: StepContext, batch: Batch): Batch =>
  withContexts(context, batch, (entry, name) => {
    const own = textsOf(batch, entry, () => []);
    return batch.records.map((record, row) => record.shown?.[name] ?? own[row]);
  });
