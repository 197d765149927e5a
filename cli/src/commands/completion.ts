import { COMMON_OPTIONS, type Command } from '../command.ts';
import { UsageError } from '../failure.ts';

const SHELLS = ['bash', 'zsh', 'fish'];

type Words = { before: string; words: string[] };

/** What may follow each beginning of a command. */
function wordsOf(commands: readonly Command[]): Words[] {
  const firsts = [...new Set(commands.map(({ name }) => name.split(' ')[0] as string))];
  const groups = firsts.flatMap((first) => {
    const seconds = commands
      .filter(({ name }) => name.startsWith(`${first} `))
      .map(({ name }) => name.split(' ')[1] as string);
    return seconds.length === 0 ? [] : [{ before: first, words: seconds }];
  });
  const options = commands.map(({ name, options: own }) => ({
    before: name,
    words: Object.keys({ ...own, ...COMMON_OPTIONS }).map((option) => `--${option}`),
  }));
  return [{ before: '', words: firsts }, ...groups, ...options];
}

function bash(commands: readonly Command[]): string {
  const cases = wordsOf(commands)
    .map(({ before, words }) => `    "${before}") words="${words.join(' ')}" ;;`)
    .join('\n');
  return `_portico() {
  local words="" before="\${COMP_WORDS[*]:1:COMP_CWORD-1}" current="\${COMP_WORDS[COMP_CWORD]}"
  before="\${before%% -*}"
  case "$before" in
${cases}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  [ \${#COMPREPLY[@]} -eq 0 ] && COMPREPLY=($(compgen -f -- "$current"))
}
complete -F _portico portico
`;
}

/** zsh runs completions of bash. */
const zsh = (commands: readonly Command[]) =>
  `autoload -U +X bashcompinit && bashcompinit\n${bash(commands)}`;

function fish(commands: readonly Command[]): string {
  const lines = wordsOf(commands).map(({ before, words }) => {
    const condition =
      before === ''
        ? '__fish_use_subcommand'
        : before
            .split(' ')
            .map((word) => `__fish_seen_subcommand_from ${word}`)
            .join('; and ');
    return words
      .map((word) =>
        word.startsWith('--')
          ? `complete -c portico -n '${condition}' -l ${word.slice(2)}`
          : `complete -c portico -f -n '${condition}' -a ${word}`,
      )
      .join('\n');
  });
  return `${lines.join('\n')}\n`;
}

export function createCompletion(commands: () => readonly Command[]): Command {
  return {
    name: 'completion',
    summary: 'Print a script that completes commands and options in your shell.',
    positionals: ['shell'],
    examples: [
      'source <(portico completion bash)',
      'portico completion zsh > ~/.portico-completion && source ~/.portico-completion',
      'portico completion fish > ~/.config/fish/completions/portico.fish',
    ],
    async run({ io, positionals }) {
      const [shell = ''] = positionals;
      if (!SHELLS.includes(shell)) throw new UsageError(`SHELL must be one of ${SHELLS.join(', ')}.`);
      io.stdout.write({ bash, zsh, fish }[shell as 'bash'](commands()));
    },
  };
}
