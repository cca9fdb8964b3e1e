# One command on one host.

# run_on HOST WORD...: prints every line of output after the host's name; the status is the command's.
run_on() {
    local host=$1 words
    shift
    words=${*//\{\}/$host}
    if [ "$logs" ]; then
        $words 2>&1 | tee -a "$logs/$host.log" | sed "s/^/$host: /"
    else
        $words 2>&1 | sed "s/^/$host: /"
    fi
}
