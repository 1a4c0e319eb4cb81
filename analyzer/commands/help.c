/* help.c - help and completion, both from the command and option tables. */
#include "analyzer/commands/command.h"

static void put_options(struct hs_buf *buf, const struct hs_command *command)
{
    struct hs_option_text o;

    hs_buf_put(buf, HS_STR("\nOptions:\n"));
    for (size_t i = 0; hs_option_of(command, i, &o); i++) {
        char flag[64];

        (void)snprintf(flag, sizeof(flag), "%s%s%s", o.flag, o.argument ? " " : "",
                       o.argument ? o.argument : "");
        if (o.letter)
            hs_buf_printf(buf, "  -%c, %-22s %s\n", o.letter, flag, o.summary);
        else
            hs_buf_printf(buf, "      %-22s %s\n", flag, o.summary);
    }
}

void hs_help_put(struct hs_buf *buf, const struct hs_command *command)
{
    if (command) {
        hs_buf_printf(buf, "hangscope %s %s - %s\n\n%s", command->name, command->arguments,
                      command->summary, command->help);
        put_options(buf, command);
        return;
    }
    hs_buf_put(buf, HS_STR("hangscope - names the rank that a distributed GPU job waits for\n\n"
                           "  hangscope COMMAND ...\n"
                           "  hangscope PATH...        is: hangscope analyze PATH...\n\n"
                           "Commands:\n"));
    for (const struct hs_command *c = hs_commands; c->name; c++)
        hs_buf_printf(buf, "  %-11s %-14s %s\n", c->name, c->arguments, c->summary);
    hs_buf_put(buf,
               HS_STR("\nA PATH is a folder, file or archive (.gz .zst .xz .bz2 .lz4 .tar .zip), "
                      "a FIFO, or - for\nstandard input.\n\nExamples:\n"
                      "  hangscope /tmp/job-4711\n"
                      "  hangscope analyze --json dumps.tar.gz | jq .verdict\n"
                      "  hangscope explain rank-missing\n\n"
                      "'hangscope help COMMAND' or 'hangscope COMMAND --help' says more.\n"));
}

int hs_run_help(const struct hs_options *o)
{
    const struct hs_command *command = o->path_count ? hs_command_find(o->paths[0]) : NULL;
    struct hs_err err = { .n = 0 };
    enum hs_status status;
    struct hs_buf out;

    if (o->path_count && !command) {
        status =
            hs_fail(&err, HS_EUSAGE, "help: there is no command '%s'; 'hangscope help' lists them",
                    o->paths[0]);
        return hs_give_up(status, &err);
    }
    hs_buf_init(&out);
    hs_help_put(&out, command);
    status = out.failed ? hs_no_memory(&err) : hs_print_result(hs_buf_str(&out), &err);
    hs_buf_release(&out);
    return status == HS_OK ? HS_EXIT_OK : hs_give_up(status, &err);
}

/* ---- completion ---- */

static void put_flags(struct hs_buf *buf, const struct hs_command *command)
{
    struct hs_option_text o;

    for (size_t i = 0; hs_option_of(command, i, &o); i++)
        hs_buf_printf(buf, "%s%s", i ? " " : "", o.flag);
}

static void put_names(struct hs_buf *buf)
{
    for (const struct hs_command *c = hs_commands; c->name; c++)
        hs_buf_printf(buf, "%s%s", c == hs_commands ? "" : " ", c->name);
}

static void put_topics(struct hs_buf *buf)
{
    const struct hs_topic *t;

    for (size_t i = 0; (t = hs_topic_at(i, HS_ENGLISH)); i++)
        hs_buf_printf(buf, "%s%s", i ? " " : "", t->code);
}

static void put_bash(struct hs_buf *buf)
{
    hs_buf_put(buf, HS_STR("_hangscope() {\n"
                           "    local word=${COMP_WORDS[COMP_CWORD]} words=\n"
                           "    if [ \"$COMP_CWORD\" -eq 1 ]; then words='"));
    put_names(buf);
    hs_buf_put(buf, HS_STR("'\n    else case ${COMP_WORDS[1]} in\n"));
    for (const struct hs_command *c = hs_commands; c->name; c++) {
        hs_buf_printf(buf, "        %s) words='", c->name);
        put_flags(buf, c);
        if (c->run == hs_run_explain) {
            hs_buf_putc(buf, ' ');
            put_topics(buf);
        }
        hs_buf_put(buf, HS_STR("' ;;\n"));
    }
    hs_buf_put(buf, HS_STR("    esac; fi\n"
                           "    COMPREPLY=($(compgen -W \"$words\" -- \"$word\") "
                           "$(compgen -f -- \"$word\"))\n"
                           "}\ncomplete -o filenames -F _hangscope hangscope\n"));
}

static void put_fish(struct hs_buf *buf)
{
    struct hs_option_text o;

    for (const struct hs_command *c = hs_commands; c->name; c++)
        hs_buf_printf(buf, "complete -c hangscope -n __fish_use_subcommand -a %s -d '%s'\n",
                      c->name, c->summary);
    for (const struct hs_command *c = hs_commands; c->name; c++) {
        for (size_t i = 0; hs_option_of(c, i, &o); i++) {
            hs_buf_printf(buf, "complete -c hangscope -n '__fish_seen_subcommand_from %s' -l %s%s",
                          c->name, o.flag + 2, o.argument ? " -r" : "");
            if (o.letter)
                hs_buf_printf(buf, " -s %c", o.letter);
            hs_buf_putc(buf, '\n');
        }
    }
    hs_buf_put(buf,
               HS_STR("complete -c hangscope -n '__fish_seen_subcommand_from explain' -f -a '"));
    put_topics(buf);
    hs_buf_put(buf, HS_STR("'\n"));
}

static void put_zsh(struct hs_buf *buf)
{
    hs_buf_put(buf, HS_STR("#compdef hangscope\nautoload -U bashcompinit && bashcompinit\n"));
    put_bash(buf);
}

int hs_run_completion(const struct hs_options *o)
{
    static const struct {
        const char *shell;
        void (*put)(struct hs_buf *buf);
    } shells[] = { { "bash", put_bash }, { "zsh", put_zsh }, { "fish", put_fish } };
    struct hs_err err = { .n = 0 };
    enum hs_status status = HS_EUSAGE;
    struct hs_buf out;

    hs_buf_init(&out);
    for (size_t i = 0; o->path_count == 1 && i < sizeof(shells) / sizeof(shells[0]); i++) {
        if (strcmp(o->paths[0], shells[i].shell) == 0) {
            shells[i].put(&out);
            status = out.failed ? hs_no_memory(&err) : hs_print_result(hs_buf_str(&out), &err);
        }
    }
    hs_buf_release(&out);
    if (status == HS_EUSAGE)
        (void)hs_fail(&err, status, "completion: for which shell? bash, zsh or fish");
    return status == HS_OK ? HS_EXIT_OK : hs_give_up(status, &err);
}
