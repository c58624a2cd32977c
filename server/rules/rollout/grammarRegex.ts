import { messageOf } from "../../../shared/lib/errors.ts";
import { parseRegex } from "../../lib/regex/regex.ts";
import { eachStage, reportAt, type Rule } from "../rule.ts";

/** A grammar is a regular expression that an automaton can follow. */
export const grammarRegex: Rule = {
  id: "grammar-regex",
  title: "Regular expression that cannot guide generation",
  why: "`rollout.grammar.regex` is followed token by token by a finite automaton, so it may hold what regular languages have: classes, alternatives, groups, repetition. Look-around and back-references need a memory that an automaton does not have.",
  check: eachStage((view, model) => {
    const { grammar } = view.config.body.rollout;
    if (grammar === undefined || !("regex" in grammar)) return;
    try {
      parseRegex(grammar.regex);
    } catch (error) {
      const message = messageOf(error);
      reportAt(model, view, grammarRegex, [["rollout", "grammar", "regex"]], { message });
    }
  }),
};
