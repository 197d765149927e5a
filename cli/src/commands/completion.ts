import { COMMON_OPTIONS, type Command } from '../command.ts';
import { UsageError } from '../failure.ts';

const SHELLS = ['bash', 'zsh', 'fish'];

type Words = { before: string; words: readonly string[] };

/** What may follow each beginning of a command, and each option that takes a value. */
function wordsOf(commands: readonly Command[]): { commands: Words[]; values: Words[] } {
  const firsts = [...new Set(commands.map(({ name }) => name.split(' ')[0] as string))];
  const groups = firsts.flatMap((first) => {
    const seconds = commands
      .filter(({ name }) => name.startsWith(`${first} `))
      .map(({ name }) => name.split(' ')[1] as string);
    return seconds.length === 0 ? [] : [{ before: first, words: seconds }];
  });
  const own = commands.map(({ name, options, values = [] }) => ({
    before: name,
    words: [...values, ...Object.keys({ ...options, ...COMMON_OPTIONS }).map((option) => `--${option}`)],
  }));
  const values = commands.flatMap(({ name, options = {} }) =>
    Object.entries({ ...options, ...COMMON_OPTIONS }).flatMap(([option, { value, values: words = [] }]) =>
      value === undefined ? [] : [{ before: `${name} --${option}`, words }],
    ),
  );
  return { commands: [{ before: '', words: firsts }, ...groups, ...own], values };
}

function bash(commands: readonly Command[]): string {
  const words = wordsOf(commands);
  const cases = (each: readonly Words[]) =>
    each.map(({ before, words }) => `    "${before}") words="${words.join(' ')}" ;;`).join('\n');
  return `_portico() {
  local words="" before="" current="\${COMP_WORDS[COMP_CWORD]}" i
  local previous="\${COMP_WORDS[COMP_CWORD-1]}" isvalue=1
  for (( i = 1; i < COMP_CWORD; i++ )); do
    case "\${COMP_WORDS[i]}" in -*) break ;; esac
    before="$before\${before:+ }\${COMP_WORDS[i]}"
  done
  case "$before $previous" in
${cases(words.values)}
    *) isvalue=0 ;;
  esac
  [ $isvalue -eq 1 ] || case "$before" in
${cases(words.commands)}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  [ \${#COMPREPLY[@]} -eq 0 ] && COMPREPLY=($(compgen -f -- "$current"))
  return 0
}
complete -F _portico portico
`;
}

/** zsh runs completions of bash, once its own are loaded. */
const zsh = (commands: readonly Command[]) =>
  `(( $+functions[compdef] )) || { autoload -U compinit && compinit; }
autoload -U +X bashcompinit && bashcompinit
${bash(commands)}`;

function fish(commands: readonly Command[]): string {
  const seen = (words: string) =>
    words
      .split(' ')
      .map((word) => `__fish_seen_subcommand_from ${word}`)
      .join('; and ');
  const lines = wordsOf(commands).commands.flatMap(({ before, words }) => {
    const isGroup = commands.some(({ name }) => name.startsWith(`${before} `));
    const ended = isGroup ? `; and not __fish_seen_subcommand_from ${words.join(' ')}` : '';
    const condition = before === '' ? '__fish_use_subcommand' : `${seen(before)}${ended}`;
    return words
      .filter((word) => !word.startsWith('--'))
      .map((word) => `complete -c portico -f -n '${condition}' -a '${word}'`);
  });
  const options = commands.flatMap(({ name, options }) =>
    Object.entries({ ...options, ...COMMON_OPTIONS }).map(([option, { value, values }]) => {
      const argument = value === undefined ? '' : values ? ` -x -a '${values.join(' ')}'` : ' -r';
      return `complete -c portico -n '${seen(name)}' -l ${option}${argument}`;
    }),
  );
  return `${[...lines, ...options].join('\n')}\n`;
}

export function createCompletion(commands: () => readonly Command[]): Command {
  return {
    name: 'completion',
    summary: 'Print a script that completes commands and options in your shell.',
    positionals: ['shell'],
    values: SHELLS,
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
