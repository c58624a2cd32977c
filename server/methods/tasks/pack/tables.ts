import { z } from "zod";
import { template } from "../../../core/references.ts";
import { taskSource, param } from "../../../core/declaration.ts";
import { fill } from "../../../core/templates.ts";
import { randomStream, type Random } from "../../../lib/random.ts";
import { madeFacts } from "../../../lib/texts/madeFacts.ts";
import type { Task } from "../../../core/task.ts";
import { generated } from "../generated.ts";

const kinds = ["filter", "order", "group", "join"] as const;
type Kind = (typeof kinds)[number];

const params = z.object({
  kinds: param(
    z
      .array(z.enum(kinds))
      .min(1)
      .default([...kinds]),
    "What the query must do, one arm each: filter rows, order them, group them, join two tables.",
  ),
  prompt: param(
    template("question", "tables").default(
      "{tables}\nWrite one SQLite query, in a ```sql block: {question}\n",
    ),
    "Template of the prompt: `{question}`, `{tables}` (the CREATE TABLE statements).",
  ),
});
type Params = z.output<typeof params>;

const [townCount, personCount] = [12, 20];
const trades = ["baker", "painter", "doctor", "sailor"] as const;
const lands = ["Norland", "Sudria", "Ostia"] as const;
const creates = `CREATE TABLE towns (name TEXT PRIMARY KEY, land TEXT, people INTEGER);
CREATE TABLE persons (name TEXT PRIMARY KEY, town TEXT REFERENCES towns(name), trade TEXT, age INTEGER);`;

const one = <Item>(items: readonly Item[], random: Random): Item => items[random.integer(items.length)]!;

/** So many different items, in an order of chance. */
function some(items: readonly string[], count: number, random: Random): readonly string[] {
  const left = [...items];
  return Array.from({ length: count }, () => left.splice(random.integer(left.length), 1)[0]!);
}

/** SQL that makes a small database: names are made up and hold no quotes. */
function database(random: Random): string {
  const { towns, people } = madeFacts();
  const places = some(towns, townCount, random);
  const rows = (table: string, values: readonly string[]): string =>
    `INSERT INTO ${table} VALUES ${values.join(", ")};`;
  return [
    creates,
    rows(
      "towns",
      places.map((name) => `('${name}', '${one(lands, random)}', ${100 * (1 + random.integer(99))})`),
    ),
    rows(
      "persons",
      some(people, personCount, random).map(
        (name) =>
          `('${name}', '${one(places, random)}', '${one(trades, random)}', ${18 + random.integer(60)})`,
      ),
    ),
  ].join("\n");
}

interface Asked {
  readonly question: string;
  readonly sql: string;
}

function asked(kind: Kind, random: Random): Asked {
  const [land, trade, age] = [one(lands, random), one(trades, random), 25 + 5 * random.integer(8)];
  const forms: Readonly<Record<Kind, readonly Asked[]>> = {
    filter: [
      {
        question: `the names and ages of all persons older than ${age}.`,
        sql: `SELECT name, age FROM persons WHERE age > ${age}`,
      },
      {
        question: `the names of the towns in ${land}.`,
        sql: `SELECT name FROM towns WHERE land = '${land}'`,
      },
      {
        question: `how many persons are a ${trade}?`,
        sql: `SELECT COUNT(*) FROM persons WHERE trade = '${trade}'`,
      },
    ],
    order: [
      {
        question: `the name and people of the 3 towns with the most people; of equal ones the first by name.`,
        sql: "SELECT name, people FROM towns ORDER BY people DESC, name LIMIT 3",
      },
      {
        question: `the name of the youngest ${trade}; of equal ones the first by name.`,
        sql: `SELECT name FROM persons WHERE trade = '${trade}' ORDER BY age, name LIMIT 1`,
      },
    ],
    group: [
      {
        question: "each land with the number of its towns.",
        sql: "SELECT land, COUNT(*) FROM towns GROUP BY land",
      },
      {
        question: `each trade with the mean age of persons older than ${age}.`,
        sql: `SELECT trade, AVG(age) FROM persons WHERE age > ${age} GROUP BY trade`,
      },
    ],
    join: [
      {
        question: `the names of all persons in ${land} with their trades.`,
        sql: `SELECT persons.name, trade FROM persons JOIN towns ON towns.name = town WHERE land = '${land}'`,
      },
      {
        question: `each land with the number of persons in it who are a ${trade}; lands without one are left out.`,
        sql: `SELECT land, COUNT(*) FROM persons JOIN towns ON towns.name = town WHERE trade = '${trade}' GROUP BY land`,
      },
    ],
  };
  return one(forms[kind], random);
}

function make(name: string, chosen: Params, kind: Kind, random: Random): Task {
  const number = random.integer(1_000_000);
  // Of the id alone: equal ids are equal tasks.
  const own = randomStream("tables", kind, number);
  const schema = database(own);
  const { question, sql } = asked(kind, own);
  return {
    id: `tables:${kind}:${number}`,
    source: name,
    env: "tables",
    prompt: fill(chosen.prompt, { question, tables: creates }),
    answer: sql,
    data: { kind, question, schema, sql },
    solution: `\`\`\`sql\n${sql}\n\`\`\``,
  };
}

const isKind = (text: string): text is Kind => kinds.some((kind) => kind === text);

export const tables = taskSource({
  name: "tables",
  summary:
    "Questions about small made-up tables, to be answered by a query of SQLite. The tool `sql` runs queries on the task's database, and `table_match` scores one by its result.",
  sources: ["PaVeRL-SQL: Text-to-SQL via Partial-Match Rewards and Verbal Reinforcement Learning"],
  params,
  create: (chosen, context) => {
    const name = context.name ?? "tables";
    return generated({
      env: "tables",
      name,
      values: [...new Set(chosen.kinds)],
      make: (value, random) => (isKind(value) ? make(name, chosen, value, random) : null),
      valueOf: ({ data }) => (typeof data["kind"] === "string" ? data["kind"] : undefined),
    });
  },
});
