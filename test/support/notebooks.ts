/** Notebooks of tests: a cell that begins with `#md` is one of text. */

type Form = "text" | "list" | "crlf";

export function notebook(cells: readonly string[], form: Form = "list"): string {
  const written = (text: string): string | string[] => {
    if (form === "text") return text;
    return form === "crlf" ? text.replaceAll("\n", "\r\n") : (text.match(/[^\n]*\n|[^\n]+$/g) ?? []);
  };
  return `${JSON.stringify(
    {
      cells: cells.map((text) =>
        text.startsWith("#md")
          ? { cell_type: "markdown", metadata: {}, source: written(text.slice(3).trim()) }
          : {
              cell_type: "code",
              execution_count: null,
              metadata: {},
              outputs: [{ output_type: "stream", name: "stdout", text: ["GRPOConfig(beta=, \n"] }],
              source: written(text),
            },
      ),
      metadata: { kernelspec: { display_name: "Python 3", language: "python", name: "python3" } },
      nbformat: 4,
      nbformat_minor: 5,
    },
    null,
    1,
  )}\n`;
}

/** A GRPO tutorial in TRL's style. @param config arguments of its `GRPOConfig`, one a line */
export const tutorial = (config = "    max_steps=100,\n    learning_rate=5e-6,"): string[] => [
  "#md # GRPO on arithmetic\nWhy not?",
  '%%capture\nimport os\nif "COLAB_" not in "".join(os.environ):\n    !pip install trl==1.2.0\nelse:\n    %pip install trl==1.2.0 vllm',
  'import re\nfrom datasets import load_dataset\nfrom trl import GRPOConfig, GRPOTrainer\n\nSYSTEM = """\nAnswer in this form. Why?\n<answer>\n...\n</answer>\n"""\n\ndataset = load_dataset("json", data_files="rows.jsonl", split="train")',
  'def extract(text):\n    return text.split("<answer>")[-1].split("</answer>")[0].strip()\n\ndef correct(completions, answer, **kwargs):\n    return [1.0 if extract(c) == a else 0.0 for c, a in zip(completions, answer)]\n\ndef tagged(completions, **kwargs):\n    return [0.5 if re.search(r"<answer>.*</answer>", c, re.S) else 0.0 for c in completions]',
  `args = GRPOConfig(\n    output_dir="out",\n    per_device_train_batch_size=8,\n    num_generations=8,\n${config}\n)`,
  'trainer = GRPOTrainer(\n    model="Qwen/Qwen2.5-0.5B-Instruct",\n    reward_funcs=[correct, tagged],\n    args=args,\n    train_dataset=dataset,\n)\ntrainer.train()',
  "!nvidia-smi\ndisplay(trainer.state)",
];
