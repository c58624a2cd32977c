import { messageOf } from "../../../shared/lib/errors.ts";
import { parseRegex } from "../../lib/regex/regex.ts";
import { placeOf, underneath, type Rule } from "../rule.ts";

/** A grammar is a regular expression that an automaton can follow. */
export const grammarRegex: Rule = {
  id: "grammar-regex",
  title: "Regular expression that cannot guide generation",
  why: "`rollout.grammar.regex` is followed token by token by a finite automaton, so it may hold what regular languages have: classes, alternatives, groups, repetition. Look-around and back-references need a memory that an automaton does not have.",
  check({ stages, root, report }) {
    for (const view of stages) {
      const { grammar } = view.config.body.rollout;
      if (grammar === undefined || !("regex" in grammar)) continue;
      try {
        parseRegex(grammar.regex);
      } catch (error) {
        const at = placeOf(view.body, "rollout", "grammar", "regex") ?? root.origin;
        const key = underneath(view, at, "rollout.grammar.regex");
        report({ rule: grammarRegex.id, message: messageOf(error), key, at });
      }
    }
  },
};
