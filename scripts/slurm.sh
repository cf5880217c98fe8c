#!/usr/bin/env bash
# slurm.sh start|stop|status FOLDER [KEY=VALUE...]: a one-node Slurm cluster on this machine, to try sweeps and for the tests.
#   scripts/slurm.sh start /tmp/slurm MaxArraySize=5     # more lines of slurm.conf, which replace those below
#   export SLURM_CONF=/tmp/slurm/slurm.conf              # then sbatch, squeue, srun and scontrol use this cluster
#   scripts/slurm.sh stop /tmp/slurm                     # ends its jobs and all of its processes, even if some have crashed
# All of its files are in FOLDER: configuration, munge key and socket, states, logs. It chooses free ports when it starts, so it
# shares nothing with any other Slurm on the machine. Needs the group [slurm] of scripts/packages.txt. Runs as root, or as another
# user for that user's own jobs. The node has 4 processors and 4 GB, whatever the machine has, because nothing is measured on it.
set -euo pipefail
export PATH=$PATH:/usr/sbin:/sbin
daemons=(slurmd slurmctld munged)  # in the order in which they are stopped

usage() { sed -n '2,5s/^# \?//p' "${BASH_SOURCE[0]}"; }
fail() { printf 'slurm.sh: %s\n' "$*" >&2; exit 1; }
lines_of() { tail -n 15 "$folder"/log/*.log >&2 2>/dev/null || true; }

# Prints the process ID of a daemon if it runs. Its command line must name our folder, because the ID may belong to another process by now.
process_of() {
  local pid
  pid=$(cat "$folder/run/$1.pid" 2>/dev/null) && [[ $pid =~ ^[0-9]+$ ]] || return 1
  names_folder "$pid" && echo "$pid"
}

names_folder() { grep -qaF "$folder" "/proc/$1/cmdline" 2>/dev/null; }

free_ports() { # prints two
  /usr/bin/python3 -c '
import socket
sockets = [socket.socket() for _ in range(2)]
for s in sockets: s.bind(("127.0.0.1", 0))
print(*[s.getsockname()[1] for s in sockets])'
}

wait_for() { # SECONDS COMMAND...
  local end=$((SECONDS + $1)) && shift
  until "$@" >/dev/null 2>&1; do
    ((SECONDS < end)) || return 1
    sleep 0.1
  done
}

configuration() {
  local ports host user loopback=''
  read -ra ports < <(free_ports)
  host=$(uname -n) host=${host%%.*} user=$(id -un)
  # The daemons can be bound to an address only by the host's name; if that is not the loopback address, only the key keeps others out.
  [[ $(getent hosts "$host") == '127.0.0.1 '* ]] && loopback=CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
  cat <<END
ClusterName=softalign
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=${ports[0]}
SlurmdPort=${ports[1]}
SlurmUser=$user
SlurmdUser=$user
AuthType=auth/munge
AuthInfo=socket=$folder/run/munge.socket,cred_expire=5
$loopback
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/run/slurmctld.pid
SlurmdPidFile=$folder/run/slurmd.pid
SlurmctldLogFile=$folder/log/slurmctld.log
SlurmdLogFile=$folder/log/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SchedulerType=sched/builtin
SchedulerParameters=sched_interval=1,sched_min_interval=0,batch_sched_delay=0
SlurmdParameters=config_overrides
MpiDefault=none
MailProg=/bin/true
ReturnToService=2
KillWait=5
DefMemPerCPU=500
NodeName=$host NodeAddr=127.0.0.1 CPUs=4 RealMemory=4000 State=UNKNOWN
PartitionName=main Nodes=$host Default=YES MaxTime=60 State=UP
END
}

start() {
  local key line
  for name in munged slurmctld slurmd sbatch; do
    command -v "$name" >/dev/null || fail "$name is not there; apt-get install slurm-wlm munge, or scripts/setup.sh slurm"
  done
  ((${#folder} <= 80)) || fail "$folder: the name of a socket in there would be too long; give a folder of at most 80 characters"
  for name in "${daemons[@]}"; do
    process_of "$name" >/dev/null && fail "$folder: $name runs; scripts/slurm.sh stop $folder"
  done
  mkdir -p "$folder"/{run,log,state,spool}
  configuration >"$folder/slurm.conf"
  for line in "$@"; do
    [[ $line == [A-Z]*=* ]] || fail "'$line' is no KEY=VALUE of slurm.conf"
    key=${line%%=*}
    sed -i "/^$key=/d" "$folder/slurm.conf"
    echo "$line" >>"$folder/slurm.conf"
  done
  # Since 23.02 slurmd looks for control groups even if no plugin uses them; older versions do not know the option.
  rm -f "$folder/cgroup.conf"
  [[ $(slurmd -V) == *' 2'[0-2].* ]] || echo 'CgroupPlugin=disabled' >"$folder/cgroup.conf"
  (umask 077 && head -c 128 /dev/urandom >"$folder/munge.key")

  munged --force --num-threads=2 --origin=127.0.0.1 --key-file="$folder/munge.key" --seed-file="$folder/munge.seed" \
    --socket="$folder/run/munge.socket" --pid-file="$folder/run/munged.pid" --log-file="$folder/log/munged.log" ||
    { lines_of; fail "munged does not start"; }
  slurmctld -i -f "$folder/slurm.conf" && slurmd -f "$folder/slurm.conf" || { lines_of; stop; fail "Slurm does not start"; }
  export SLURM_CONF=$folder/slurm.conf
  wait_for 30 node_is_idle || { lines_of; stop; fail "the node is not ready after 30 s"; }
  printf 'Slurm %s is ready; to use it:\n  export SLURM_CONF=%s\n' "$(slurmd -V | cut -d' ' -f2)" "$SLURM_CONF"
}

node_is_idle() { [[ $(sinfo -h -o %t) == idle ]]; }

status() {
  local name pid all=0
  for name in "${daemons[@]}"; do
    if pid=$(process_of "$name"); then echo "$name runs, process $pid"; else echo "$name does not run" && all=1; fi
  done
  [[ $all -ne 0 ]] || SLURM_CONF=$folder/slurm.conf timeout 10 sinfo
  return "$all"
}

# Prints the IDs of the remaining processes of jobs, which are not children of slurmd. slurmstepd overwrites its command line and environment, so
# its working folder identifies it; processes that a job started have the path of our configuration in their environment.
ours() {
  local process pid
  for process in /proc/[0-9]*; do
    pid=${process#/proc/}
    [[ $pid != "$$" && $pid != "$BASHPID" && $pid != "$PPID" ]] || continue
    if [[ $(<"$process/comm") == slurmstepd* ]]; then
      [[ $(readlink "$process/cwd") == "$folder"/* ]] && echo "$pid"
    elif grep -qzxF "SLURM_CONF=$folder/slurm.conf" "$process/environ" && grep -qzE '^SLURM_JOB_ID=' "$process/environ"; then
      echo "$pid"
    fi
  done 2>/dev/null
  return 0
}

stop() {
  local name pid
  if process_of slurmctld >/dev/null; then
    SLURM_CONF=$folder/slurm.conf timeout 10 scancel --full --signal=KILL --user="$(id -un)" 2>/dev/null || true
  fi
  for name in "${daemons[@]}"; do
    pid=$(process_of "$name") || continue
    kill "$pid" 2>/dev/null || continue
    wait_for 10 gone "$pid" || kill -KILL "$pid" 2>/dev/null || true  # by process ID, because a daemon removes its PID file before it ends
  done
  for pid in $(ours); do kill -KILL "$pid" 2>/dev/null || true; done
}

gone() { ! names_folder "$1"; }

[[ " $* " != *' --help '* && " $* " != *' -h '* ]] || { usage; exit; }
[[ $# -ge 2 ]] || { usage >&2; exit 2; }
command=$1 folder=$(realpath -m -- "$2") && shift 2
[[ $folder != *[[:space:]]* ]] || fail "'$folder': Slurm's configuration has no words with spaces"
case $command in
  start) start "$@" ;;
  stop) stop ;;
  status) status ;;
  *) usage >&2; exit 2 ;;
esac
