/* main.c - finds the command, reads its options, runs it. */
#include "analyzer/commands/command.h"
#include "schema/store.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>

static int print(struct hs_buf *text)
{
    struct hs_err err = { .n = 0 };
    enum hs_status status =
        text->failed ? hs_no_memory(&err) : hs_print_result(hs_buf_str(text), &err);

    hs_buf_release(text);
    return status == HS_OK ? HS_EXIT_OK : hs_give_up(status, &err);
}

static int print_help(const struct hs_command *command)
{
    struct hs_buf text;

    hs_buf_init(&text);
    hs_help_put(&text, command);
    return print(&text);
}

static int print_version(void)
{
    struct hs_buf text;

    hs_buf_init(&text);
    hs_buf_put(&text, HS_STR("hangscope " HS_VERSION "\n"));
    return print(&text);
}

static int run(const struct hs_command *command, int argc, char **argv)
{
    struct hs_options options;
    struct hs_err err = { .n = 0 };
    enum hs_status status = hs_options_read(command, argc, argv, &options, &err);
    int code;

    if (status != HS_OK)
        code = hs_give_up(status, &err);
    else
        code = options.help ? print_help(command) : command->run(&options);
    hs_options_release(&options);
    return code;
}

/* Whether the first word is a path or an option of `analyze`, and not a mistyped command. */
static bool is_path(const char *word)
{
    struct stat st;

    return word[0] == '-' || strchr(word, '/') || strchr(word, '.') || stat(word, &st) == 0;
}

static int unknown_command(const char *word)
{
    enum { COMMANDS_MAX = 32 };
    const char *names[COMMANDS_MAX], *nearest;
    struct hs_err err = { .n = 0 };
    size_t count = 0;

    while (count < COMMANDS_MAX && hs_commands[count].name) {
        names[count] = hs_commands[count].name;
        count++;
    }
    nearest = hs_nearest(word, names, count);
    if (nearest)
        (void)hs_fail(&err, HS_EUSAGE,
                      "there is no command and no file '%s'; did you mean 'hangscope %s'?", word,
                      nearest);
    else
        (void)hs_fail(&err, HS_EUSAGE,
                      "there is no command and no file '%s'; 'hangscope help' lists the commands",
                      word);
    return hs_give_up(HS_EUSAGE, &err);
}

/* No half-written file stays behind; then the signal does what it always does. */
static void end_by_signal(int number)
{
    hs_store_abandon(); /* NOLINT(bugprone-signal-handler): it only calls unlink(2) */
    (void)signal(number, SIG_DFL);
    (void)raise(number);
}

/* What whoever started us wants ignored, as nohup does, stays ignored. */
static void clean_up_on(int number)
{
    if (signal(number, end_by_signal) == SIG_IGN)
        (void)signal(number, SIG_IGN);
}

/*
 * A standard stream that is closed is not to become the next file that is opened, or what is said
 * would end up in it. Its place is taken by one that, as before, cannot be used.
 */
static void keep_standard_places(void)
{
    static const int unusable[] = { O_WRONLY, O_RDONLY, O_WRONLY }; /* what is said gets lost */

    for (int fd = 0; fd < 3; fd++) {
        if (fcntl(fd, F_GETFD) < 0)
            (void)open("/dev/null", unusable[fd]); /* the lowest free number: this one */
    }
}

int main(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : NULL;
    const struct hs_command *command = word ? hs_command_find(word) : NULL;
    struct hs_err err = { .n = 0 };

    keep_standard_places();
    (void)signal(SIGPIPE, end_by_signal); /* a reader that has seen enough ends us quietly */
    (void)signal(SIGXFSZ, SIG_IGN);       /* beyond "ulimit -f" writing fails, and is told */
    clean_up_on(SIGINT);
    clean_up_on(SIGTERM);
    clean_up_on(SIGHUP);
    if (!word) {
        (void)hs_fail(&err, HS_EUSAGE,
                      "what to do? 'hangscope PATH' analyzes; 'hangscope help' says "
                      "more");
        return hs_give_up(HS_EUSAGE, &err);
    }
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
        return print_help(NULL);
    if (strcmp(word, "--version") == 0)
        return print_version();
    if (command)
        return run(command, argc - 2, argv + 2);
    if (is_path(word))
        return run(hs_command_find("analyze"), argc - 1, argv + 1);
    return unknown_command(word);
}
