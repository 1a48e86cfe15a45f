// Starts `cfq-lint server` and connects it to the editor; everything else is the server's.

import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import * as vscode from "vscode";
import { LanguageClient } from "vscode-languageclient/node";

const INSTALL = "pip install 'cfq-lint[editor]'";
const ANSWER_MS = 20_000;

let client: LanguageClient | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const output = vscode.window.createOutputChannel("cfq-lint");
  context.subscriptions.push(
    output,
    vscode.commands.registerCommand("cfq-lint.restart", () => restart(output)),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration("cfq-lint.command")) void restart(output);
    }),
  );
  await start(output);
}

export async function deactivate(): Promise<void> {
  await client?.stop();
}

async function restart(output: vscode.OutputChannel): Promise<void> {
  await client?.stop().catch(() => undefined);
  client = undefined;
  await start(output);
}

async function start(output: vscode.OutputChannel): Promise<void> {
  const command = await find(output);
  if (command === undefined) return await sayMissing(output);
  output.appendLine(`starting ${command.join(" ")} server`);
  const [program, ...given] = command;
  const languages = ["typescript", "typescriptreact", "javascript", "javascriptreact", "python"];
  client = new LanguageClient(
    "cfq-lint",
    "cfq-lint",
    { command: program, args: [...given, "server"], options: { cwd: folders()[0] } },
    {
      outputChannel: output,
      documentSelector: [
        { scheme: "file", pattern: "**/wrangler*.{json,jsonc,toml}" },
        { scheme: "file", pattern: "**/cfq-lint.toml" },
        ...languages.map((language) => ({ scheme: "file", language })),
      ],
    },
  );
  try {
    await client.start();
  } catch (error) {
    client = undefined;
    output.appendLine(String(error));
    await sayMissing(output, `${program} does not serve editors; it may lack the extra: ${INSTALL}`);
  }
}

/** The program with its arguments: the setting's, the project's, the user's; undefined where none answers. */
async function find(output: vscode.OutputChannel): Promise<string[] | undefined> {
  const set = vscode.workspace.getConfiguration("cfq-lint").get<string[]>("command", []);
  const inside = process.platform === "win32" ? ["Scripts", "cfq-lint.exe"] : ["bin", "cfq-lint"];
  const own = folders().flatMap((folder) => [".venv", "venv"].map((name) => join(folder, name, ...inside)));
  const candidates = set.length > 0 ? [set] : [...own.filter(existsSync).map((path) => [path]), ["cfq-lint"]];
  for (const candidate of candidates) {
    const problem = await problemOf(candidate);
    if (problem === undefined) return candidate;
    output.appendLine(`${candidate.join(" ")}: ${problem}`);
  }
  return undefined;
}

/** Why a program cannot serve: it does not start, or says so itself; undefined where it can. */
function problemOf([program, ...given]: string[]): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile(program, [...given, "server", "--check"], { timeout: ANSWER_MS, cwd: folders()[0] }, (error, _, stderr) =>
      resolve(error === null ? undefined : stderr.trim() || error.message),
    );
  });
}

async function sayMissing(output: vscode.OutputChannel, said = `cfq-lint was not found. Install it: ${INSTALL}`): Promise<void> {
  const chosen = await vscode.window.showWarningMessage(said, "Copy the command", "Show output");
  if (chosen === "Copy the command") await vscode.env.clipboard.writeText(INSTALL);
  if (chosen === "Show output") output.show();
}

function folders(): string[] {
  return (vscode.workspace.workspaceFolders ?? []).map((folder) => folder.uri.fsPath);
}
